/**
 * Prices stay text. A typesetter takes whatever stands between two dollar signs for a formula: "$5 or
 * $6". A sign that opens none, by the rule that the kernel's own views follow, is set apart from it.
 */
import type { IRenderMime } from '@jupyterlab/rendermime-interfaces';

/**
 * Find the dollar signs that belong to no formula. Between two single signs stands no blank at the
 * edges, and no digit stands behind the second one.
 */
export function loose(text: string): number[] {
  const found: number[] = [];
  let at = 0;
  while ((at = text.indexOf('$', at)) >= 0) {
    const sign = text.startsWith('$$', at) ? '$$' : '$';
    const start = at + sign.length;
    const end = text.indexOf(sign, start);
    const inside = text.slice(start, Math.max(start, end));
    const price = sign === '$' && (/^\s|[\s\\]$/.test(inside) || /\d/.test(text.charAt(end + 1)));
    if (text.charAt(at - 1) === '\\') {
      at = start;
    } else if (inside.trim() && !price) {
      at = end + sign.length;
    } else {
      found.push(...[...sign].map((_one, n) => at + n));
      at = start;
    }
  }
  return found;
}

function setApart(root: HTMLElement): void {
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  const texts: Text[] = [];
  while (walker.nextNode()) {
    const text = walker.currentNode as Text;
    if (text.data.includes('$') && !text.parentElement?.closest('code, pre')) {
      texts.push(text);
    }
  }
  for (const text of texts) {
    for (const place of loose(text.data).reverse()) {
      const sign = text.splitText(place);
      sign.splitText(1);
      const apart = document.createElement('span');
      sign.replaceWith(apart);
      apart.append(sign);
    }
  }
}

/** Return a typesetter that leaves prices alone. */
export function sparing(
  typesetter: IRenderMime.ILatexTypesetter | null
): IRenderMime.ILatexTypesetter | null {
  return (
    typesetter && {
      typeset: element => {
        setApart(element);
        return typesetter.typeset(element);
      }
    }
  );
}
