import { setImmediate as yieldToOthers } from 'node:timers/promises';
import { TRACES } from '../../schema/tables.js';
import { TEXT_BLOCKS } from '../../schema/text-blocks-table.js';
import { narrowed, ofCommitsBetween } from '../segments/commit-ranges.js';
import type { Connection } from '../files/connection.js';
import type { Row } from '../files/plain-rows.js';
import { literal } from '../files/database.js';
import { slicesByRow } from '../segments/compaction-slices.js';
import type { Condition } from '../segments/relation.js';
import { COLD, type Capture, type Segment } from '../segments/segment.js';
import { isAscii } from '../../shared/log-text.js';
import { gramHashes, TextGrams, wholeHashes } from './text-grams.js';

/** The columns of headers that are searched. Each has its bits in `text_blocks`, under its own name. */
const { searched: SEARCHED, lookedUp: LOOKED_UP } = TEXT_BLOCKS;
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
  const note = async (column: string, text: string, add: Adding): Promise<void> => {
    const grams = new TextGrams();
    for (const slice of slices) {
      const texts = `SELECT DISTINCT ${text} AS text FROM ${from} o WHERE ${slice} AND ${column} IS NOT NULL`;
      await addTexts(connection, texts, (bytes) => {
        add(grams, bytes);
      });
      await breathe();
    }
    const printed = grams.print();
    bits.push(printed === null ? 'NULL' : `from_base64('${Buffer.from(printed).toString('base64')}')::BIT`);
  };
  for (const column of SEARCHED)
    await note(column, `lower(${column})`, (grams, bytes) => {
      grams.add(bytes);
    });
  for (const column of LOOKED_UP)
    await note(column, column === 'tags' ? 'unnest(string_split(tags, chr(10)))' : column, (grams, bytes) => {
      grams.addWhole(bytes);
    });
  const columns = [...SEARCHED, ...LOOKED_UP].join(', ');
  await connection.run(
    `INSERT INTO ${BLOCKS} (seq, first_seq, ${columns}) VALUES (${Number(range.last)}, ${range.first}, ${bits.join(', ')})`,
  );
}

type Adding = (grams: TextGrams, bytes: Uint8Array) => void;

async function addTexts(
  connection: Connection,
  texts: string,
  add: (bytes: Uint8Array) => void,
): Promise<void> {
  let added = 0;
  for (const { text } of await connection.rows(texts)) {
    const bytes = Buffer.from(String(text));
    add(bytes);
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

/** A column that is to be one of some lines, or to have one of them, as a whole. */
export interface LookedUp {
  readonly column: (typeof LOOKED_UP)[number];
  /** At least one. */
  readonly lines: readonly string[];
}

/** The condition for headers that have one of the lines. */
export function hasLine({ column, lines }: LookedUp): string {
  if (column !== 'tags') return `${column} IN (${lines.map(literal).join(', ')})`;
  const each = lines.map(
    (line) => `contains(chr(10) || tags || chr(10), chr(10) || ${literal(line)} || chr(10))`,
  );
  return `(${each.join(' OR ')})`;
}

/**
 * Conditions for those of some headers that have a text (see {@link hasText}) and certain lines; each header meets at most one of
 * them. Segments and columns that cannot have them are left out; what is left has to be looked through.
 *
 * @param headers the condition for these headers, in which the lines are asked for already
 * @param text as {@link inLowerCase} gives it; undefined for any
 */
export async function whereText(
  connection: Connection,
  capture: Capture,
  headers: string,
  text: string | undefined,
  lines: readonly LookedUp[] = [],
): Promise<Condition[]> {
  const has = (columns = ALL_COLUMNS): string =>
    text === undefined ? headers : `${headers} AND ${hasText(columns)}`;
  const hashes = text === undefined ? [] : gramHashes(Buffer.from(text));
  // Segments that are quarantined lie between the others.
  if ((hashes.length === 0 && lines.length === 0) || capture.hot.some(({ isQuarantined }) => isQuarantined))
    return [has()];
  const mayHave = SEARCHED.map((column) => `${haveBits(column, hashes)} AS ${column}`);
  const isThere = lines.map(
    ({ column, lines: any }) =>
      `(${any.map((line) => haveBits(column, wholeHashes(Buffer.from(line)))).join(' OR ')})`,
  );
  const rows = await connection.rows(
    `SELECT first_seq, seq, ${['TRUE', ...isThere].join(' AND ')} AS may, ${mayHave.join(', ')} FROM ${BLOCKS} WHERE seq <= ${capture.bound} ORDER BY seq`,
  );
  const found = fewRanges(rows.map(blocksOf)).map(({ first, last, columns }) =>
    narrowed(ofCommitsBetween(first, last), has(columns)),
  );
  // Whatever file it is in: a statement that does not use the text would refuse its value.
  return [...found, `seq > ${capture.bound} AND ${has()}`];
}

function haveBits(column: string, hashes: readonly number[]): string {
  const isSet = hashes.map((hash) => `get_bit(${column}, (${hash} % bit_length(${column}))::INTEGER) = 1`);
  return `coalesce(${['TRUE', ...isSet].join(' AND ')}, TRUE)`;
}

const ALL_COLUMNS = 2 ** SEARCHED.length - 1;

function blocksOf(row: Row): Blocks {
  const columns = SEARCHED.map((column, i) => (row.may === true && row[column] === true ? 1 << i : 0));
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
