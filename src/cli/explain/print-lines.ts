import { printable } from '../table.js';

/** A value under its label, and what gave it. */
export interface Line {
  readonly label: string;
  readonly value: string;
  readonly from: string;
}

/** Columns of a line: the labels' and the values'. */
const LABEL = 8;
const VALUE = 72;

/** A text cut to a width in which it can stand beside another. */
export function cut(text: string, most = VALUE): string {
  const line = printable(text.replace(/\s+/g, ' ').trim());
  return line.length <= most ? line : `${line.slice(0, most - 1).trimEnd()}…`;
}

/** Lines with their parts under each other, each behind `indent`. @param most characters of a value */
export function printLines(lines: readonly Line[], indent: string, most = VALUE): string[] {
  const shown = lines.map(({ label, value, from }) => ({
    label,
    value: cut(value, most),
    from: printable(from),
  }));
  const width = Math.max(0, ...shown.map(({ value }) => value.length));
  return shown.map(({ label, value, from }) => {
    const told = from === '' ? value : `${value.padEnd(width)}  ← ${from}`;
    return `${indent}${label.padEnd(LABEL)} ${told}`.trimEnd();
  });
}
