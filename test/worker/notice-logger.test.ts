import t from 'tap';
import { noticeLogger, writeNotice, type LogNotice } from '../../src/worker/notice-logger.js';
import { RecordingLogger } from '../support/recording-logger.js';

void t.test('log lines cross as plain data and are written by the owner', async (t) => {
  const lines: LogNotice[] = [];
  const logger = noticeLogger((line) => lines.push(line), false);
  const owner = new RecordingLogger();
  logger.warn({ err: new TypeError('no such thing'), times: 2 }, 'It failed');
  for (const level of ['debug', 'info', 'error'] as const) logger.child({})[level]({}, level);
  for (const line of structuredClone(lines)) writeNotice(owner, line);
  t.match(owner.lines[0], /^warn It failed err={"name":"TypeError","message":"no such thing",.* times=2$/);
  t.same(owner.lines.slice(1), ['debug debug', 'info info', 'error error']);
});

void t.test('debug is enabled if the owner enables it', async (t) => {
  for (const isEnabled of [true, false])
    t.equal(noticeLogger(() => undefined, isEnabled).isDebugEnabled(), isEnabled);
});
