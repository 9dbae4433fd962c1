/**
 * HTML of untrusted Markdown that loads nothing. JupyterLab's own sanitizer keeps scripts out, but
 * lets images be fetched from anywhere, which tells their server that an answer was looked at.
 */
import { type IRenderMime } from '@jupyterlab/rendermime-interfaces';

const LOADING = 'img, picture, source, video, audio, track, iframe, object, embed, link, svg, style, '
  + 'form, input, button, textarea, select, base, meta, dialog';
const ADDRESSES = ['src', 'srcset', 'poster', 'background', 'data', 'ping', 'style', 'id', 'name'];
const LINK = /^(?:https?:|mailto:|#)/i;
const PICTURE = /^data:image\/(?:png|jpeg|gif|webp);base64,[\w+/=\s]*$/i;

/** Say in words what an image would have shown. */
function wordsFor(image: Element, page: Document): Node {
  const words = page.createElement('span');
  const address = image.getAttribute('src') ?? '';
  words.textContent = `🖼 ${image.getAttribute('alt') ?? ''} ${address.slice(0, 200)}`.trim();
  words.className = 'jan-Turn-image';
  return words;
}

function mend(element: Element): void {
  for (const name of ADDRESSES) {
    element.removeAttribute(name);
  }
  const href = element.getAttribute('href');
  if (href !== null && !LINK.test(href.trim())) {
    element.removeAttribute('href');
  }
  if (element.tagName === 'A') {
    element.setAttribute('rel', 'noopener noreferrer');
    element.setAttribute('target', '_blank');
  }
}

/** Take out what would load something. The document is inert: nothing is fetched from it. */
export function withoutLoading(html: string): string {
  const page = new DOMParser().parseFromString(html, 'text/html');
  for (const element of page.body.querySelectorAll(LOADING)) {
    if (element.tagName === 'IMG' && PICTURE.test(element.getAttribute('src') ?? '')) {
      element.removeAttribute('srcset');
      element.removeAttribute('style');
    } else if (element.tagName === 'IMG') {
      element.replaceWith(wordsFor(element, page));
    } else {
      element.remove();
    }
  }
  page.body.querySelectorAll(':not(img)').forEach(mend);
  return page.body.innerHTML;
}

/** A line that a parser may take for the begin of a fence; only these two end a line there. */
const FENCE = /[^\n\r]*(?:`{3}|~{3})[^\n\r]*/g;

/** Show diagrams as code: JupyterLab draws them, and fetches the pictures in them, before it cleans. */
export function withoutDrawing(markdown: string): string {
  return markdown.replace(FENCE, line => line.replace(/mermaid/gi, 'text'));
}

/** Build on JupyterLab's sanitizer; ours comes after it, so that it never sees more than that lets through. */
export function quietSanitizer(own: IRenderMime.ISanitizer): IRenderMime.ISanitizer {
  return {
    sanitize: (dirty, options) => withoutLoading(own.sanitize(dirty, options)),
    allowNamedProperties: false
  };
}
