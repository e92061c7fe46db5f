import t from 'tap';
import { ApiCaller } from '../../support/api-caller.js';
import { startTestDaemon } from '../../support/daemon.js';
import { jsonOf } from '../../support/otlp-requests.js';
import { anItem } from '../../support/trace-batch.js';

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

/** A run with an agent named by its team, as the batch route takes it. */
function runOf(team: string | null) {
  const item = anItem();
  const metadata = team === null ? {} : { resource: { team } };
  return { ...item, trace: { ...item.trace, agent: `of ${team ?? 'none'}`, metadata } };
}

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
  trace_batch:
    tenant:
      attribute: team
      users: { mine: ${owner.id}, off: ${disabled.id}, plain: ${plain.id} }
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

      const sendRuns = async (key: string, ...teams: readonly (string | null)[]) => {
        const json = { traces: teams.map(runOf) };
        return (await new ApiCaller(url, key).call('POST', '/traces/batch', { json })).body;
      };
      const agentsOf = async (key: string) => {
        const { items } = await new ApiCaller(url, key).get<{ items: { agent_name: string }[] }>(
          '/dashboard/traces',
        );
        return items.map(({ agent_name: name }) => name.slice(3)).sort();
      };
      const runsByAgent = await sendRuns(agent.key, 'mine', 'off', null, 'other', 'mine');
      const runsByPlain = await sendRuns(plain.key, 'plain', 'mine');
      if (isKept) {
        t.match(runsByAgent, { accepted: 5 });
        t.match(runsByPlain, { accepted: 2 });
      } else {
        const noUser = /names no active user of receivers\.trace_batch\.tenant/;
        t.match(runsByAgent, { accepted: 3, rejected: 2, errors: [{ error: noUser }, { error: noUser }] });
        t.match(runsByPlain, { accepted: 1, errors: [{ error: /lacks the scope "delegate"/ }] });
      }
      t.strictSame(await agentsOf(owner.key), ['mine', 'mine']);
      t.strictSame(await agentsOf(agent.key), isKept ? ['none', 'off', 'other'] : ['none']);
      t.strictSame(await agentsOf(plain.key), isKept ? ['mine', 'plain'] : ['plain']);

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
processors: { quota: { count: [log_records, spans] } }
receivers:
  otlp: { tenant: { attribute: team, users: { small: ${id} } } }
  trace_batch: { tenant: { attribute: team, users: { small: ${id} } } }
`,
  });
  const send = (...teams: readonly (string | null)[]) =>
    fetch(`${otlpUrl}/v1/logs`, { method: 'POST', headers, body: jsonOf(logs(...teams)) });
  const mixed = await send('small', 'small', null);
  t.equal(mixed.status, 200);
  t.match(await mixed.text(), /"rejectedLogRecords":"2"/);
  t.match(await (await fetch(`${url}/api/v1/dashboard/logs/search`, { headers })).text(), /of none/);
  t.equal((await send('small', 'small')).status, 429, 'alone, it is refused as always');

  const api = new ApiCaller(url, first.key);
  const runs = await api.call('POST', '/traces/batch', {
    json: { traces: [runOf('small'), runOf(null), runOf('small')] },
  });
  t.match(runs, { status: 200, body: { accepted: 1, rejected: 2, errors: [{ error: /quota|limit/i }, {}] } });
  t.equal(runs.headers.get('x-quota-limit'), null, 'the quota of another user is not shown');
  t.equal(
    (await api.call('POST', '/traces/batch', { json: { traces: [runOf('small'), runOf('small')] } })).status,
    429,
  );
});
