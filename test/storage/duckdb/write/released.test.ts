import t from 'tap';
import { IncomingBatch } from '../../../../src/storage/incoming/incoming-batch.js';
import { aTrace, NOON } from '../../../support/run-records.js';
import { EventEngine } from '../event-engine.js';
import { tracesMessage } from '../traces-message.js';

const ID = '00000000-0000-4000-8000-00000000000';

void t.test('releases the memory of new traces after their commit and keeps that of others', async (t) => {
  const engine = await EventEngine.open(t);
  const user = await engine.addUser(null);
  const write = async (...numbers: number[]): Promise<IncomingBatch> => {
    const items = numbers.map((number) => aTrace(3, { trace_id: `${ID}${number}` }));
    const batch = new IncomingBatch(tracesMessage(user.tenant, { items }, NOON));
    await engine.parts.writer.write({ kind: 'batch', batch });
    await engine.parts.writer.drained();
    return batch;
  };
  const bytesOf = ({ buffers }: IncomingBatch): number =>
    buffers.reduce((sum, { byteLength }) => sum + byteLength, 0);

  t.equal(bytesOf(await write(1, 2)), 0);
  t.ok(bytesOf(await write(2, 3)) > 0, 'a stored trace may stay cached with its message');
  await engine.settle();
  for (const number of [1, 2, 3])
    t.match(await engine.shownRun(user, `${ID}${number}`), { trace_id: `${ID}${number}` });
});
