import { randomInt, randomUUID } from 'node:crypto';
import { uuidV7 } from '../../../../src/signal/ids.js';
import { aLog } from '../../../support/log-records.js';
import { NOON } from '../../../support/run-records.js';
import { storeToKill } from '../store-to-kill.js';

const RECEIVED = { receivedAt: NOON };

/**
 * A process to be killed: opens the store of its first argument and writes log records for the user of its second,
 * several batches at a time, forever. Prints a line before each write (`sent`) and after its response (`done`), with a
 * word that the records of the batch contain and their number.
 */

export interface LogLine {
  readonly kind: 'sent' | 'done';
  readonly word: string;
  readonly records: number;
}

const WRITERS = 4;
const [, , path = '', tenant = ''] = process.argv;

const store = await storeToKill(path);
await Promise.all(Array.from({ length: WRITERS }, () => write()));

async function write(): Promise<never> {
  for (;;) {
    const word = randomUUID().replaceAll('-', '');
    const records = randomInt(1, 30);
    const items = Array.from({ length: records }, (_, i) =>
      aLog({
        id: uuidV7(Date.now()),
        timestamp: NOON + randomInt(1000),
        body: `written with ${word} as number ${i}`,
      }),
    );
    print({ kind: 'sent', word, records });
    await store.writer.logs({ tenant, items }, RECEIVED);
    print({ kind: 'done', word, records });
  }
}

function print(line: LogLine): void {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}
