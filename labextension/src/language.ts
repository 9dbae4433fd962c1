/** The language of a chat cell: one magic line, then JupyterLab's own Markdown. */
import { Language, LanguageSupport } from '@codemirror/language';
import { type IEditorLanguageRegistry } from '@jupyterlab/codemirror';
import type { MarkdownConfig, MarkdownParser } from '@lezer/markdown';
import { isChat, magicLine } from './magicLine';

export const CHAT_MIME = 'text/x-jan-chat';
const MARKDOWN_MIME = 'text/x-ipythongfm';

/**
 * Parse the magic line as a block of its own. As Markdown it would run into the first paragraph:
 * a flag such as `--system _brief_` would turn italic and `===` below it would make a heading of it.
 */
const magicBlock: MarkdownConfig = {
  defineNodes: [{ name: 'ChatMagic', block: true }],
  parseBlock: [
    {
      name: 'ChatMagic',
      parse(context, line) {
        if (context.lineStart !== 0 || !isChat(line.text)) {
          return false;
        }
        context.addElement(context.elt('ChatMagic', 0, line.text.length));
        context.nextLine();
        return true;
      }
    }
  ]
};

/** Build on the Markdown that JupyterLab loads anyway: its maths and its fenced code come along. */
async function load(languages: IEditorLanguageRegistry): Promise<LanguageSupport> {
  const spec = await languages.getLanguage(MARKDOWN_MIME);
  if (!spec?.support) {
    throw new Error('JupyterLab has no Markdown language to build on');
  }
  const markdown = spec.support.language;
  const parser = (markdown.parser as MarkdownParser).configure(magicBlock);
  const chat = new Language(markdown.data, parser, [], 'jan-chat');
  return new LanguageSupport(chat, [spec.support.support, magicLine]);
}

/** Register the language; its code is loaded when the first chat cell is seen. */
export function addChatLanguage(languages: IEditorLanguageRegistry): void {
  languages.addLanguage({
    name: 'jan-chat',
    displayName: 'Chat prompt',
    mime: CHAT_MIME,
    extensions: [],
    load: () => load(languages)
  });
}
