import { Command } from 'commander';
import { readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { BatchCodec } from '../delivery/queue/disk/batch-codec.js';
import { DeadLetters, type Letter, type WholeLetter } from '../delivery/queue/disk/dead-letters.js';
import { placeOf } from '../delivery/queue/disk/disk-place.js';
import { RAW_DECODERS } from '../otlp/map/decode-raw.js';
import { recordsOf } from '../signal/raw-batch.js';
import { formatTime } from '../signal/time.js';
import { counted } from '../api/support/counted.js';
import type { CliIo } from './io.js';
import { type Column, printable, showJson, showList } from './table.js';
import { UsageError } from './usage-error.js';

interface Options {
  readonly directory: string;
  readonly exporter?: string;
  readonly json?: boolean;
  readonly all?: boolean;
}

const COLUMNS: readonly Column<Letter>[] = [
  { title: 'id', show: ({ id }) => id },
  { title: 'exporter', show: ({ about }) => about.exporter },
  { title: 'signal', show: ({ about }) => about.signal },
  { title: 'items', show: ({ items }) => items },
  { title: 'reason', show: ({ about }) => about.reason },
  { title: 'given up', show: ({ about }) => formatTime(about.deadAt) },
  { title: 'message', show: ({ about }) => about.message },
];

const HELP = `
Dead letters are batches, or items of them, that an exporter with a queue on disk (queue.type: disk) could not deliver:
  refused        the receiver permanently rejected the batch
  items_refused  the receiver rejected these items of the batch
  too_old        not delivered within retry.max_elapsed_time
  too_often      not delivered in retry.max_attempts attempts

The commands work on the queue directory (queue.directory of the configuration) and must run as the user of the daemon. The
daemon may be running or stopped: every letter is one file, which is moved or removed as a whole. A running daemon picks up
replayed letters within two seconds, a stopped one at its next start. They go to the end of the queue with their original
batch ids, so that a receiving Jackdaw does not store them twice.`;

/** `jackdaw dead-letters`: works on the queue directory; the daemon may run or not. */
export function deadLettersCommand(io: CliIo): Command {
  const command = new Command('dead-letters')
    .description('List, show, replay or drop batches that could not be delivered.')
    .addHelpText('after', HELP);

  withDirectory(command.command('list').description('List dead letters, the oldest first.'))
    .option('--json', 'print JSON')
    .action(async (options: Options) => {
      const found = await allLetters(io, options);
      if (options.json === true) showJson(io, found.map(shown));
      else showList(io, found, { columns: COLUMNS, none: 'There are no dead letters.' });
    });

  withDirectory(command.command('show').description('Print a dead letter with its items as JSON.'))
    .argument('<id>', 'as list shows it')
    .action(async (id: string, options: Options) => {
      const [box] = await boxesWith(options, [id]);
      const letter = await box?.[1].read(id);
      if (letter === undefined || letter === null) throw unknown(id);
      if (letter instanceof Error) throw letter;
      io.out(await withItems(letter));
    });

  const several = (
    name: string,
    description: string,
    act: (box: DeadLetters, id: string) => Promise<boolean>,
    done: string,
  ) =>
    withDirectory(command.command(name).description(description))
      .argument('[ids...]', 'as list shows them')
      .option('--all', 'all dead letters, or with --exporter all of that exporter')
      .action(async (ids: readonly string[], options: Options) => {
        if (ids.length > 0 === (options.all === true))
          throw new UsageError('give ids of dead letters, or --all');
        const chosen = options.all === true ? await everyId(options) : await boxesWith(options, ids);
        let count = 0;
        for (const [id, box] of chosen) if (await act(box, id)) count += 1;
        io.out(`${counted(count, 'dead letter')} ${done}.`);
      });
  several('replay', 'Replay dead letters.', (box, id) => box.replay(id), 'to be sent again');
  several('drop', 'Drop dead letters permanently.', (box, id) => box.drop(id), 'dropped');
  return command;
}

function withDirectory(command: Command): Command {
  return command
    .option('--directory <dir>', 'queue.directory of the configuration', './data/queue')
    .option('--exporter <id>', 'only those of this exporter, such as otlp_http');
}

/**
 * The dead letters of each exporter in the directory.
 *
 * @throws UsageError if it cannot be read
 */
function boxesIn({ directory, exporter }: Options): readonly DeadLetters[] {
  if (exporter !== undefined) return [new DeadLetters(placeOf(directory, exporter))];
  try {
    return readdirSync(directory, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => new DeadLetters(join(resolve(directory), name)));
  } catch (error) {
    const reason = error instanceof Error && 'code' in error ? String(error.code) : String(error);
    throw new UsageError(
      `cannot read ${directory} (${reason}): give queue.directory of the configuration with --directory`,
    );
  }
}

async function everyId(options: Options): Promise<readonly (readonly [string, DeadLetters])[]> {
  const found: (readonly [string, DeadLetters])[] = [];
  for (const box of boxesIn(options)) for (const id of await box.ids()) found.push([id, box]);
  return found.sort(([a], [b]) => (a < b ? -1 : 1));
}

/** @throws Error for an unknown id, before any letter is changed */
async function boxesWith(
  options: Options,
  ids: readonly string[],
): Promise<readonly (readonly [string, DeadLetters])[]> {
  const known = new Map(await everyId(options));
  return [...new Set(ids)].map((id) => {
    const box = known.get(id);
    if (box === undefined) throw unknown(id);
    return [id, box];
  });
}

/** Reads all letters. Unreadable ones are reported and left out. */
async function allLetters(io: CliIo, options: Options): Promise<readonly Letter[]> {
  const found: Letter[] = [];
  for (const [id, box] of await everyId(options)) {
    const letter = await box.read(id);
    if (letter instanceof Error) io.err(`jackdaw: ${printable(letter.message)}`);
    else if (letter !== null) found.push(letter);
  }
  return found;
}

function unknown(id: string): Error {
  return new Error(`there is no dead letter ${printable(id)}: jackdaw dead-letters list shows their ids`);
}

function shown({ id, about, items, bytes }: Letter): object {
  const { exporter, signal, reason, message, tenant, receivedAt, deadAt, id: batchId } = about;
  return {
    id,
    exporter,
    signal,
    items,
    reason,
    message,
    user_id: tenant,
    batch_id: batchId,
    received_at: formatTime(receivedAt),
    given_up_at: formatTime(deadAt),
    bytes,
  };
}

async function withItems(letter: WholeLetter): Promise<string> {
  const { signal, tenant } = letter.about;
  const codec = new BatchCodec(signal, RAW_DECODERS);
  const { batch } = codec.read(letter, { ...letter, tenant });
  return JSON.stringify(
    { ...shown(letter), items: recordsOf(batch).items },
    (_, value: unknown) => {
      if (typeof value === 'bigint') return String(value);
      return value instanceof Uint8Array ? Buffer.from(value).toString('base64') : value;
    },
    2,
  );
}
