import { setImmediate as yieldToOthers } from 'node:timers/promises';
import { TEXT_BLOCKS, TRACES } from '../../tables.js';
import { narrowed, ofCommitsBetween } from '../rows/commit-ranges.js';
import type { Connection, Row } from '../files/connection.js';
import { slicesByRow } from '../rows/move-slices.js';
import type { Condition } from '../rows/relation.js';
import { COLD, type Capture, type Segment } from '../rows/segment.js';
import { isAscii } from '../../log-text.js';
import { gramHashes, TextGrams } from './text-grams.js';

/** The columns of headers that are searched. Each has its bits in `text_blocks`, under its own name. */
const { searched: SEARCHED } = TEXT_BLOCKS;
const BLOCKS = `${COLD}.main.${TEXT_BLOCKS.name}`;
/** How much text is added before others get a turn: a few milliseconds. */
const BYTES_AT_ONCE = 1024 * 1024;
/** How many ranges of commits in the cold file are looked through, each by a scan of its own. */
const MOST_RANGES = 12;

/** Neighbouring segments, from the first to the last commit that brought headers. */
interface Blocks {
  readonly first: number;
  readonly last: number;
  /** A bit for each of `SEARCHED` that may hold the text. */
  readonly columns: number;
}

/**
 * Notes which texts the runs of a segment have, as it is moved; within the transaction of the move. Every segment with headers
 * has its row, so that no header lies in the cold file beside them.
 *
 * @param options.breathe called between slices of `options.rows` headers
 */
export async function noteMovedTexts(
  connection: Connection,
  { catalog }: Segment,
  { rows, breathe }: { readonly rows: number; readonly breathe: () => Promise<void> },
): Promise<void> {
  const from = `${catalog}.main.${TRACES.name}`;
  const [range] = await connection.rows(`SELECT min(seq) AS first, max(seq) AS last FROM ${from}`);
  if (typeof range?.first !== 'number') return;
  const slices = await slicesByRow(connection, from, rows);
  const bits: string[] = [];
  for (const column of SEARCHED) {
    const grams = new TextGrams();
    for (const slice of slices) {
      await addTexts(
        connection,
        `SELECT DISTINCT lower(${column}) AS text FROM ${from} o WHERE ${slice} AND ${column} IS NOT NULL`,
        grams,
      );
      await breathe();
    }
    const printed = grams.print();
    bits.push(printed === null ? 'NULL' : `from_base64('${Buffer.from(printed).toString('base64')}')::BIT`);
  }
  await connection.run(
    `INSERT INTO ${BLOCKS} (seq, first_seq, ${SEARCHED.join(', ')}) VALUES (${Number(range.last)}, ${range.first}, ${bits.join(', ')})`,
  );
}

async function addTexts(connection: Connection, texts: string, grams: TextGrams): Promise<void> {
  let added = 0;
  for (const { text } of await connection.rows(texts)) {
    const bytes = Buffer.from(String(text));
    grams.add(bytes);
    if ((added += bytes.length) < BYTES_AT_ONCE) continue;
    added = 0;
    await yieldToOthers();
  }
}

/** Forgets the texts of segments that have no header left, within the transaction that removes headers. */
export async function forgetRemovedTexts(connection: Connection): Promise<void> {
  const left = `SELECT b.seq FROM (SELECT DISTINCT seq FROM ${COLD}.main.${TRACES.name}) t ASOF JOIN ${BLOCKS} b ON t.seq >= b.first_seq`;
  await connection.run(`DELETE FROM ${BLOCKS} WHERE seq NOT IN (${left})`);
}

/** A text in lower case as DuckDB makes it for the tables' texts: it knows other letters than JavaScript, and no final sigma. */
export async function inLowerCase(connection: Connection, text: string): Promise<string> {
  if (isAscii(text)) return text.toLowerCase();
  const [row] = await connection.rows('SELECT lower($1) AS text', [text]);
  return String(row?.text);
}

/**
 * The condition for headers that have a text in one of the columns. The text, in lower case, is the first value of the statement.
 */
export function hasText(columns = ALL_COLUMNS): string {
  const found = SEARCHED.filter((_, i) => ((columns >> i) & 1) === 1).map(
    (column) => `contains(lower(${column}), $1)`,
  );
  // A null in one column does not hide a match in the other: `NULL OR TRUE` is true.
  return `(${found.join(' OR ')})`;
}

/**
 * Conditions for those of some headers that have a text (see {@link hasText}); each header meets at most one of them. Segments
 * and columns that cannot have the text are left out; what is left has to be looked through.
 *
 * @param headers the condition for these headers
 * @param text as {@link inLowerCase} gives it
 */
export async function whereText(
  connection: Connection,
  capture: Capture,
  headers: string,
  text: string,
): Promise<Condition[]> {
  const hashes = gramHashes(Buffer.from(text));
  // Segments that are set aside lie between the others.
  if (hashes.length === 0 || capture.hot.some(({ isAside }) => isAside))
    return [`${headers} AND ${hasText()}`];
  const mayHave = SEARCHED.map((column) => {
    const isThere = hashes.map(
      (hash) => `get_bit(${column}, (${hash} % bit_length(${column}))::INTEGER) = 1`,
    );
    return `coalesce(${isThere.join(' AND ')}, TRUE) AS ${column}`;
  });
  const rows = await connection.rows(
    `SELECT first_seq, seq, ${mayHave.join(', ')} FROM ${BLOCKS} WHERE seq <= ${capture.bound} ORDER BY seq`,
  );
  const found = fewRanges(rows.map(blocksOf)).map(({ first, last, columns }) =>
    narrowed(ofCommitsBetween(first, last), `${headers} AND ${hasText(columns)}`),
  );
  // Whatever file it is in: a statement that does not use the text would refuse its value.
  return [...found, `${headers} AND seq > ${capture.bound} AND ${hasText()}`];
}

const ALL_COLUMNS = 2 ** SEARCHED.length - 1;

function blocksOf(row: Row): Blocks {
  const columns = SEARCHED.map((column, i) => (row[column] === true ? 1 << i : 0));
  return {
    first: Number(row.first_seq),
    last: Number(row.seq),
    columns: columns.reduce((all, one) => all | one, 0),
  };
}

/**
 * Segments that may have the text, neighbours joined; where there are too many ranges, also joined with what lies between them.
 *
 * @param blocks ascending
 */
function fewRanges(blocks: readonly Blocks[]): Blocks[] {
  let ranges = equalJoined(blocks);
  while (ranges.filter(({ columns }) => columns > 0).length > MOST_RANGES) {
    const pairs: Blocks[] = [];
    for (let i = 0; i < ranges.length; i += 2) pairs.push(ranges.slice(i, i + 2).reduce(together));
    ranges = equalJoined(pairs);
  }
  return ranges.filter(({ columns }) => columns > 0);
}

/** Joins neighbours of which the same is known. */
function equalJoined(ranges: readonly Blocks[]): Blocks[] {
  const joined: Blocks[] = [];
  for (const next of ranges) {
    const before = joined.at(-1);
    if (before?.columns === next.columns) joined[joined.length - 1] = together(before, next);
    else joined.push(next);
  }
  return joined;
}

function together(range: Blocks, next: Blocks): Blocks {
  return { first: range.first, last: next.last, columns: range.columns | next.columns };
}
