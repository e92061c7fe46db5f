import { existsSync, writeFileSync } from 'node:fs';
import { deriveTask } from '../../../src/processors/service-map/derive-task.js';
import type { MapTask } from '../../../src/processors/service-map/task.js';
import { waitAt } from '../../support/channel-place.js';

/**
 * A thread that derives maps, and before that does what the names of calls tell it:
 *
 * - `wait:CHANNEL` says on a channel that it is there, and waits to be told to go on
 * - `exit` ends the thread, `exit once:FILE` only if the file is not there yet
 * - `fault` throws
 * - `nonsense` answers with too little
 */
export default async function derive(task: MapTask): Promise<unknown> {
  for (const text of task.flatMap(({ texts }) => texts)) {
    // Behind the mark of a name.
    const [word = '', detail = ''] = text.replace(/^#/, '').split(':');
    if (word === 'wait') await waitAt(detail);
    if (word === 'exit') process.exit(7);
    if (word === 'exit once' && !existsSync(detail)) {
      writeFileSync(detail, '');
      process.exit(7);
    }
    if (word === 'fault') throw new Error('a fault of ours');
    if (word === 'nonsense') return {};
  }
  return deriveTask(task);
}
