/** The extension's plugins, and nothing else: each file registers one idea. */
import { approvalPlugin } from './approval';
import { kernelsPlugin } from './kernels';
import { syntaxPlugin } from './syntax';
import { turnPlugin } from './turnPlugin';

export default [syntaxPlugin, kernelsPlugin, approvalPlugin, turnPlugin];
