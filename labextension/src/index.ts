/** The extension's plugins, and nothing else: each file registers one idea. */
import { syntaxPlugin } from './syntax';

export default [syntaxPlugin];
