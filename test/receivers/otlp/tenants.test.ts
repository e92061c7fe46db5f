import t from 'tap';
import { startTestDaemon } from '../../support/daemon.js';
import { jsonOf } from '../../support/otlp-requests.js';

const KNOWN = '00000000-0000-4000-8000-00000000abcd';

const logs = (...teams: readonly (string | null)[]) => ({
  resourceLogs: teams.map((team) => ({
    resource: { attributes: team === null ? [] : [{ key: 'team', value: { stringValue: team } }] },
    scopeLogs: [
      {
        logRecords: [{ timeUnixNano: '1772323200000000000', body: { stringValue: `of ${team ?? 'none'}` } }],
      },
    ],
  })),
});

for (const policy of ['refuse', 'keep'] as const)
  void t.test(
    `data goes to the user of its attribute, with the scope only; otherwise ${policy}`,
    async (t) => {
      const first = await startTestDaemon(t);
      const json = (key: string) => ({
        authorization: `Bearer ${key}`,
        'content-type': 'application/json',
      });
      const createUser = async (name: string, scopes: readonly string[]) => {
        const post = async (path: string, body: object) => {
          const answer = await fetch(`${first.url}/api/v1/admin/${path}`, {
            method: 'POST',
            headers: json(first.key),
            body: JSON.stringify(body),
          });
          return (await answer.json()) as { readonly id: string; readonly key: string };
        };
        const { id } = await post('users', { email: `${name}@example.com`, name });
        const { key } = await post('keys', { user_id: id, name, scopes });
        return { id, key };
      };
      const owner = await createUser('owner', ['read']);
      const agent = await createUser('agent', ['write', 'read', 'delegate']);
      const plain = await createUser('plain', ['write', 'read', 'manage']);
      const disabled = await createUser('disabled', ['read']);
      await fetch(`${first.url}/api/v1/admin/users/${disabled.id}`, {
        method: 'PATCH',
        headers: json(first.key),
        body: JSON.stringify({ disabled: true }),
      });
      await first.daemon.shutdown();

      const { url, otlpUrl } = await startTestDaemon(t, {
        directory: first.directory,
        key: first.key,
        overlay: `
receivers:
  otlp:
    tenant:
      attribute: team
      users: { mine: ${owner.id.toUpperCase()}, off: ${disabled.id}, gone: ${KNOWN}, plain: ${plain.id} }
      unknown: ${policy}
      without_scope: ${policy}
`,
      });
      const send = async (key: string, ...teams: readonly (string | null)[]) => {
        const answer = await fetch(`${otlpUrl}/v1/logs`, {
          method: 'POST',
          headers: { ...json(key), 'jackdaw-batch-id': 'same' },
          body: jsonOf(logs(...teams)),
        });
        return { status: answer.status, text: await answer.text() };
      };
      const bodiesOf = async (key: string) => {
        const answer = await fetch(`${url}/api/v1/dashboard/logs/search`, { headers: json(key) });
        return [...(await answer.text()).matchAll(/"body":"of (\w+)"/g)].map(([, team]) => team).sort();
      };

      const byAgent = await send(agent.key, 'mine', null, 'off', 'gone', 'other', 'mine');
      t.equal(byAgent.status, 200);
      const byPlain = await send(plain.key, 'mine', null, 'plain', 'other');
      t.equal(byPlain.status, 200);
      if (policy === 'refuse') {
        t.match(byAgent.text, /"rejectedLogRecords":"3".*names no active user/);
        t.match(byPlain.text, /"rejectedLogRecords":"2".*lacks the scope \\"delegate\\"/);
      }
      const isKept = policy === 'keep';
      t.strictSame(await bodiesOf(owner.key), ['mine', 'mine']);
      t.strictSame(await bodiesOf(agent.key), isKept ? ['gone', 'none', 'off', 'other'] : ['none']);
      t.strictSame(
        await bodiesOf(plain.key),
        isKept ? ['mine', 'none', 'other', 'plain'] : ['none', 'plain'],
      );

      t.equal((await send(agent.key, 'mine', null, 'off', 'gone', 'other', 'mine')).status, 200);
      t.strictSame(await bodiesOf(owner.key), ['mine', 'mine'], 'a repeat adds nothing');

      const more = await fetch(`${url}/api/v1/me/keys`, {
        method: 'POST',
        headers: json(plain.key),
        body: JSON.stringify({ name: 'more', scopes: ['delegate'] }),
      });
      t.equal(more.status, 403, 'a key cannot create a key with a scope that it lacks');
    },
  );

void t.test('a quota of one user stops neither the others nor the caller', async (t) => {
  const first = await startTestDaemon(t);
  const headers = { authorization: `Bearer ${first.key}`, 'content-type': 'application/json' };
  const created = await fetch(`${first.url}/api/v1/admin/users`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ email: 'small@example.com', name: 'small', monthly_event_limit: 1 }),
  });
  const { id } = (await created.json()) as { readonly id: string };
  await first.daemon.shutdown();
  const { url, otlpUrl } = await startTestDaemon(t, {
    directory: first.directory,
    key: first.key,
    overlay: `
processors: { quota: { count: [log_records] } }
receivers: { otlp: { tenant: { attribute: team, users: { small: ${id} } } } }
`,
  });
  const send = (...teams: readonly (string | null)[]) =>
    fetch(`${otlpUrl}/v1/logs`, { method: 'POST', headers, body: jsonOf(logs(...teams)) });
  const mixed = await send('small', 'small', null);
  t.equal(mixed.status, 200);
  t.match(await mixed.text(), /"rejectedLogRecords":"2"/);
  t.match(await (await fetch(`${url}/api/v1/dashboard/logs/search`, { headers })).text(), /of none/);
  t.equal((await send('small', 'small')).status, 429, 'alone, it is refused as always');
});
