import { setImmediate as turn } from 'node:timers/promises';
import t from 'tap';
import { repeat } from '../../src/telemetry/repeat.js';
import { HandClock } from '../support/hand-clock.js';
import { RecordingLogger } from '../support/recording-logger.js';

void t.test('runs work immediately, then an interval after each turn, until stopped', async (t) => {
  const clock = new HandClock();
  const logger = new RecordingLogger();
  let turns = 0;
  let release = (): void => undefined;
  const end = repeat({ clock, logger }, { everyMs: 100, failed: 'It failed.' }, async () => {
    turns++;
    await new Promise<void>((resolve) => (release = resolve));
  });
  t.equal(turns, 1);
  clock.advance(1000);
  t.equal(turns, 1, 'a turn in progress is not overtaken');
  release();
  await turn();
  clock.advance(99);
  t.equal(turns, 1);
  clock.advance(1);
  t.equal(turns, 2);
  release();
  await turn();
  end();
  clock.advance(1000);
  t.equal(turns, 2);
});

void t.test('logs a failing turn and continues until stopped', async (t) => {
  const clock = new HandClock();
  const logger = new RecordingLogger();
  let turns = 0;
  let fail: (error: Error) => void = () => undefined;
  const end = repeat({ clock, logger }, { everyMs: 100, failed: 'It failed.' }, async () => {
    turns++;
    await new Promise<void>((_resolve, reject) => (fail = reject));
  });
  fail(new Error('no room'));
  await turn();
  t.match(logger.lines, [/^warn It failed\. err=no room/]);
  clock.advance(100);
  t.equal(turns, 2);
  fail(new Error('still no room'));
  await turn();
  t.equal(logger.lines.length, 1, 'repeated failures are logged now and then');
  clock.advance(600_000);
  fail(new Error('and still'));
  await turn();
  t.match(logger.lines.slice(1), [/^warn It failed\. err=and still .*times=2/]);
  clock.advance(100);
  t.equal(turns, 4);
  end();
  fail(new Error('closed'));
  await turn();
  t.equal(logger.lines.length, 2, 'a failure caused by the stop is not logged');
  clock.advance(1000);
  t.equal(turns, 4);
});
