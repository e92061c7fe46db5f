import t from 'tap';
import { createLogger, type LoggerOptions } from '../../src/telemetry/logger.js';

function capture(options: Partial<LoggerOptions> & { readonly isTerminal?: boolean } = {}) {
  const lines: string[] = [];
  const logger = createLogger({
    level: 'info',
    format: 'auto',
    ...options,
    output: { write: (text) => lines.push(text), isTerminal: options.isTerminal ?? false },
  });
  return { logger, lines };
}

void t.test('writes a JSON object per line without a terminal', async (t) => {
  const { logger, lines } = capture();
  logger.child({ receiver: 'trace_batch' }).warn({ count: 3 }, 'Slow');
  t.equal(lines.length, 1);
  t.match(lines[0], /\n$/);
  const line = JSON.parse(lines[0] ?? '') as Record<string, unknown>;
  t.match(line, { level: 'warn', receiver: 'trace_batch', count: 3, msg: 'Slow' });
  t.match(line['time'], /^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
});

void t.test('writes pretty lines on a terminal or on request', async (t) => {
  for (const { lines, logger } of [capture({ isTerminal: true }), capture({ format: 'pretty' })]) {
    logger.info({ port: 1 }, 'Listening');
    t.match(lines.join(''), /INFO.*Listening/);
    t.throws(() => {
      JSON.parse(lines[0] ?? '');
    });
  }
  const { lines, logger } = capture({ isTerminal: true, format: 'json' });
  logger.info({}, 'Listening');
  t.ok(JSON.parse(lines[0] ?? ''));
});

void t.test('the level filters lines', async (t) => {
  const { logger, lines } = capture({ level: 'warn' });
  logger.debug({}, 'a');
  logger.info({}, 'b');
  logger.warn({}, 'c');
  logger.error({}, 'd');
  t.equal(lines.length, 2);
  t.equal(logger.isDebugEnabled(), false);
  t.equal(capture({ level: 'debug' }).logger.isDebugEnabled(), true);
});

void t.test('logs errors with their causes', async (t) => {
  const { logger, lines } = capture();
  logger.error({ err: new Error('outer', { cause: new Error('inner') }) }, 'Failed');
  t.match(JSON.parse(lines[0] ?? ''), { err: { type: 'Error', message: /outer.*inner/, stack: /inner/ } });
});

void t.test('never logs secrets, API keys or webhook secrets', async (t) => {
  const secret = 'p"a\\ss';
  const key = `jd_${'Az09-_'.repeat(7)}x`;
  const webhook = `whsec_${'By18+/'.repeat(7)}x=`;
  for (const format of ['json', 'pretty'] as const) {
    const { logger, lines } = capture({ format, secrets: [secret, 'hunter22', 'ab'] });
    logger
      .child({ child: `x${secret}y` })
      .info({ header: `Bearer ${key}`, deep: { a: ['hunter22', `sent ${webhook}.`] } }, `m ${key}`);
    logger.error({ err: new Error(`cannot log in with hunter22`) }, 'Cabbage');
    const text = lines.join('');
    t.notMatch(text, /hunter22|p\\?"a|Az09|By18/, format);
    t.match(text, /\[redacted\]/);
    t.match(text, /Cabbage/, 'two letters are too short for a secret');
  }
});
