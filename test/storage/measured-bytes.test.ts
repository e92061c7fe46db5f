import t from 'tap';
import { MeasuredBytes } from '../../src/storage/shared/measured-bytes.js';
import { HandClock } from '../support/hand-clock.js';
import { RecordingLogger } from '../support/recording-logger.js';

void t.test('usage is unknown without a measurement, which is retried later', async (t) => {
  const clock = new HandClock();
  const logger = new RecordingLogger();
  const stored = new MeasuredBytes();
  let measurements = 0;
  let isDamaged = true;
  stored.open({
    defaultLimit: 100,
    limitsOf: () => ({ tenant: 1, monthlyLimit: null, storedLimit: null, wanted: [] }),
    measure: async () => {
      measurements++;
      if (isDamaged) throw new Error('a damaged block');
      return [new Map([[1, 500]])];
    },
    clock,
    logger,
  });
  for (let i = 0; i < 3; i++) t.same(await stored.read('anna'), { used: null, limit: 100 });
  await stored.take('anna', 60);
  t.equal(measurements, 1);
  t.equal(logger.lines.length, 1);
  t.match(logger.lines[0], /Cannot measure the stored data of users/);
  await stored.take('anna', 60);
  await t.rejects(
    stored.take('anna', 1),
    { code: 'storage_exceeded' },
    'data received since the start counts',
  );
  isDamaged = false;
  clock.advance(60_000);
  t.match(await stored.read('anna'), { used: 500 });
  stored.close();
});
