/** The extension's plugins, and nothing else: each file registers one idea. */
import { approvalPlugin } from './approval';
import { syntaxPlugin } from './syntax';

export default [syntaxPlugin, approvalPlugin];
