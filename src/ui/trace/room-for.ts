import type { CSSProperties } from 'react';

/** Of a row of a grid of spans. */
export const ROW_PX = 28;

/** Tells the stylesheet how much a grid needs at the most, where it need not fill the window. @param rows below its head */
export function roomFor(rows: number): CSSProperties {
  const needed = { '--needed': `${String((rows + 1) * ROW_PX + 2)}px` };
  return needed as CSSProperties;
}
