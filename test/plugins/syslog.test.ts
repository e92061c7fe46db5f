import { createSocket } from 'node:dgram';
import t from 'tap';
import plugin from '../../plugins/syslog/plugin.js';
import { parseSyslog } from '../../plugins/syslog/parse.js';
import { conformance, factoryOf, type RunningReceiver, type Subject } from '../../src/testing/index.js';
import { until } from '../support/until.js';

// @alone: the conformance kit looks at everything that its process has open.

const NOW = 1_768_478_400_000_000;
const USER = '01950000-0000-7000-8000-000000000001';
const factory = factoryOf(plugin, 'receiver', 'syslog');
const config = { endpoint: '127.0.0.1:0', user_id: USER, batch_wait: '1ms' };

/** Sends datagrams and waits for one more batch. */
async function send(
  { host, clock, outputs }: RunningReceiver,
  ...messages: readonly string[]
): Promise<void> {
  const port = Number([...host.announced.values()][0]?.split(':').at(-1));
  const socket = createSocket('udp4');
  const before = outputs.logs.captured.length;
  for (const message of messages)
    await new Promise((resolve) => {
      socket.send(message, port, '127.0.0.1', resolve);
    });
  socket.close();
  await until('they have been passed on', () => {
    clock.advance(1);
    return outputs.logs.captured.length > before;
  });
}

const subject: Subject = {
  config,
  send: (running) => send(running, '<34>1 2026-01-15T12:00:00.003Z host app 77 ID47 - it failed'),
  unstartable: { config: { ...config, endpoint: '192.0.2.1:1' }, error: /EADDRNOTAVAIL|EACCES/ },
};

void t.test('passes the conformance kit', async (t) => {
  for (const { name, run } of conformance(factory, subject)) await t.test(name, run);
});

void t.test('reads both formats and rejects others', async (t) => {
  const parsed = (text: string) => parseSyslog(Buffer.from(text), NOW, '10.0.0.7');
  t.match(parsed('<34>1 2026-01-15T12:00:00.003Z web1 nginx 77 ID47 [x@1 a="b\\]"] it failed\n'), {
    timestamp: Date.UTC(2026, 0, 15, 12, 0, 0, 3) * 1000,
    severity: 'fatal',
    severity_number: 21,
    severity_text: 'CRIT',
    body: 'it failed',
    attributes: {
      'process.pid': '77',
      'syslog.msg.id': 'ID47',
      'syslog.structured_data': '[x@1 a="b\\]"]',
      'syslog.facility.code': 4,
      'client.address': '10.0.0.7',
    },
    origin: { serviceName: 'nginx', resource: { 'service.name': 'nginx', 'host.name': 'web1' } },
  });
  t.match(parsed('<165>1 - - - - - - grüße'), {
    timestamp: NOW,
    severity: 'info',
    body: 'grüße',
    origin: { serviceName: 'syslog' },
  });
  t.match(parsed('<11>Jan 15 12:00:00 db postgres[12]: no: space'), {
    timestamp: NOW,
    severity: 'error',
    body: 'no: space',
    origin: { serviceName: 'postgres' },
  });
  t.match(parsed('<7>anything'), { severity: 'debug', body: 'anything' });
  for (const bad of ['', 'no priority', '<192>too large', '<x>']) t.equal(parsed(bad), undefined, bad);
});
