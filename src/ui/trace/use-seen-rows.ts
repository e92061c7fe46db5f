import { useVirtualizer, type Virtualizer } from '@tanstack/react-virtual';
import { useEffect, useRef, type RefObject } from 'react';
import { ROW_PX } from './room-for.js';

const OVERSCAN = 12;

/**
 * Virtualizes a span grid: only rows near the viewport are in the DOM. The selected row is scrolled into
 * view.
 *
 * @param selected row index; negative for none
 */
export function useSeenRows(
  count: number,
  selected: number,
  grid: RefObject<HTMLDivElement | null>,
): Virtualizer<HTMLDivElement, Element> {
  const virtual = useVirtualizer({
    count,
    getScrollElement: () => grid.current,
    estimateSize: () => ROW_PX,
    overscan: OVERSCAN,
    // The header covers the first rows.
    scrollPaddingStart: 2 * ROW_PX,
    scrollPaddingEnd: ROW_PX,
  });
  const scrollTo = useRef(virtual.scrollToIndex);
  useEffect(() => {
    scrollTo.current = virtual.scrollToIndex;
  });
  useEffect(() => {
    if (selected >= 0) scrollTo.current(selected, { align: 'auto' });
  }, [selected]);
  return virtual;
}
