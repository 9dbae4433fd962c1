/**
 * A way to a kernel that is busy since before this page was loaded. JupyterLab learns only from its
 * first answer that it has subshells, and until then all waits for the end of the running cell.
 */
import { type Kernel, KernelMessage } from '@jupyterlab/services';
import { type JSONObject, UUID } from '@lumino/coreutils';

/** A comm as far as it is spoken on. */
export interface Speaking {
  send(data: JSONObject): unknown;
}

/** Wait for something, but not longer; null where it has not come. */
export function soon<T>(work: Promise<T>, milliseconds: number): Promise<T | null> {
  const late = new Promise<null>(resolve => setTimeout(() => resolve(null), milliseconds));
  return Promise.race([work, late]);
}

/** Tell whether a kernel forgets now what it was asked and asks itself: it ends, or begins anew. */
export function forgets(status: Kernel.Status): boolean {
  return ['restarting', 'autorestarting', 'terminating', 'dead'].includes(status);
}

/** Open a comm on a subshell of its own, which is made over the control channel. */
export async function reach(
  kernel: Kernel.IKernelConnection,
  target: string,
  data: JSONObject
): Promise<Speaking> {
  const from = { username: kernel.username, session: kernel.clientId };
  const wanted = KernelMessage.createMessage<KernelMessage.ICreateSubshellRequestMsg>({
    ...from,
    msgType: 'create_subshell_request',
    channel: 'control',
    content: {}
  });
  const reply = await kernel.sendControlMessage(wanted, true).done;
  const subshellId = (reply.content as { subshell_id?: string }).subshell_id;
  const comm_id = UUID.uuid4();
  const open = KernelMessage.createMessage<KernelMessage.ICommOpenMsg<'shell'>>({
    ...from,
    subshellId,
    msgType: 'comm_open',
    channel: 'shell',
    content: { comm_id, target_name: target, data }
  });
  kernel.sendShellMessage(open, false, true);
  return {
    send: said => {
      const message = KernelMessage.createMessage<KernelMessage.ICommMsgMsg<'shell'>>({
        ...from,
        subshellId,
        msgType: 'comm_msg',
        channel: 'shell',
        content: { comm_id, data: said }
      });
      kernel.sendShellMessage(message, false, true);
    }
  };
}
