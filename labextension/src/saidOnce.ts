/** What stands under an answer: the words of its footer, and what the row beside them says. Pure. */

/** Which version a footer says that it is of; the kernel may write in another language than the page. */
const VERSION = / [·│] (?:answer|回答) ‹\d+\/\d+›/;

export interface Said {
  footer: string;
  /** The row need not show where the answer is: the footer does. */
  told: boolean;
}

/**
 * Let each thing be read once. A footer says what was true when it was written, so that the buttons
 * that choose a version, where there are any, say better which it is. A question's version stays.
 */
export function saidOnce(footer: string, picked: boolean, memory: string): Said {
  return {
    footer: picked ? footer.replace(VERSION, '') : footer,
    // A line of its own is about this answer; "(3 in a summary)" and a thread's title are not.
    told: footer.split('\n').some(line => line.startsWith(memory))
  };
}
