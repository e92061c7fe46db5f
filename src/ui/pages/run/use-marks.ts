import { useEffect, type RefObject } from 'react';

const NAME = 'run-search';
/** More marks would slow down typing. */
const MOST = 500;

/**
 * Marks the matches of a search in an element and scrolls to the first. Browsers without the Highlight API show
 * no marks.
 *
 * @param key changes when other content is shown
 */
export function useMarks(element: RefObject<HTMLElement | null>, query: string, key: string): void {
  useEffect(() => {
    const needle = query.trim().toLowerCase();
    const root = element.current;
    if (!root || needle === '' || !('highlights' in CSS)) return undefined;
    let isSeen = false;
    const mark = (): void => {
      const ranges = rangesIn(root, needle);
      CSS.highlights.set(NAME, new Highlight(...ranges));
      const [first] = ranges;
      if (isSeen || !first) return;
      isSeen = true;
      first.startContainer.parentElement?.scrollIntoView({ block: 'nearest' });
    };
    mark();
    // Payloads arrive later, and folded messages are opened.
    const observer = new MutationObserver(mark);
    observer.observe(root, { childList: true, subtree: true });
    return () => {
      observer.disconnect();
      CSS.highlights.delete(NAME);
    };
  }, [element, query, key]);
}

function rangesIn(root: Node, needle: string): readonly Range[] {
  const ranges: Range[] = [];
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node !== null && ranges.length < MOST; node = walker.nextNode()) {
    const text = node.nodeValue?.toLowerCase() ?? '';
    for (let at = text.indexOf(needle); at >= 0 && ranges.length < MOST; at = text.indexOf(needle, at + 1)) {
      const end = at + needle.length;
      // Some letters change their length in lower case.
      if (end > (node.nodeValue?.length ?? 0)) break;
      const range = document.createRange();
      range.setStart(node, at);
      range.setEnd(node, end);
      ranges.push(range);
    }
  }
  return ranges;
}
