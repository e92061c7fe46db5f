import { existsSync, writeFileSync } from 'node:fs';
import { deriveTask } from '../../../src/processors/service-map/derive-task.js';
import type { MapTask } from '../../../src/processors/service-map/task.js';
import { waitAt } from '../../support/channel-place.js';

/**
 * A thread that derives maps and first follows the names of calls:
 *
 * - `wait:CHANNEL` announces itself on a channel and waits to continue
 * - `exit` ends the thread, `exit once:FILE` only if the file does not exist
 * - `fault` throws
 * - `nonsense` returns an incomplete result
 */
export default async function derive(task: MapTask): Promise<unknown> {
  for (const text of task.flatMap(({ texts }) => texts)) {
    // After the name marker.
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
