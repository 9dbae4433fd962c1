/** The extension's plugins, and nothing else: each file registers one idea. */
import { approvalPlugin } from './approval';
import { commandsPlugin } from './commands';
import { droppingPlugin } from './dropping';
import { kernelsPlugin } from './kernels';
import { liveViewPlugin } from './liveView';
import { panelPlugin } from './panelPlugin';
import { preferencesPlugin } from './preferences';
import { shieldedKeysPlugin } from './shieldedKeys';
import { statusPlugin } from './status';
import { syntaxPlugin } from './syntax';
import { turnPlugin } from './turnPlugin';

export default [
  syntaxPlugin,
  kernelsPlugin,
  preferencesPlugin,
  approvalPlugin,
  turnPlugin,
  commandsPlugin,
  droppingPlugin,
  liveViewPlugin,
  statusPlugin,
  panelPlugin,
  shieldedKeysPlugin
];
