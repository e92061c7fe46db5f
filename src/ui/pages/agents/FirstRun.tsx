import { useState } from 'react';
import { Link } from 'wouter';
import { BASE, OTLP_ENDPOINT } from '../../api/base.js';
import { api, bodyOf } from '../../api/client.js';
import { CopyButton } from '../../parts/CopyButton.js';
import { cx } from '../../parts/cx.js';
import { Time } from '../../parts/figures.js';
import { useChange } from '../../parts/Form.js';
import parts from '../../parts/parts.module.css';
import { Tabs } from '../../parts/Tabs.js';
import { Jackdaw } from '../../shell/Jackdaw.js';
import { useMe } from '../../shell/Session.js';
import { useNow } from '../../state/clock.js';
import { firstRunWays } from './first-run-ways.js';
import { useNewestRun, useNothingYet } from './use-first-runs.js';
import styles from './FirstRun.module.css';

const VARIABLE = '$JACKDAW_KEY';

/** Instructions for an empty store. The first run opens when it arrives. */
export function FirstRun() {
  const { key_id, scopes } = useMe();
  const other = useNewestRun('all', true);
  useNothingYet();
  const now = Math.floor(useNow() / 60_000) * 60_000;
  const [key, setKey] = useState(VARIABLE);
  const [tab, setTab] = useState('Python');
  const ways = firstRunWays({ base: BASE.href, otlp: OTLP_ENDPOINT, key, now });
  const way = ways[tab];
  return (
    <div className={parts['page']}>
      <title>Welcome · Jackdaw</title>
      <div className={styles['welcome']}>
        <Jackdaw size={48} />
        <h1>{other ? 'No agent runs yet' : 'No data yet'}</h1>
        {other && (
          <p>
            Traces are arriving, but none is an agent run: see{' '}
            <Link href={`/traces/${other.trace_id}`}>the newest one</Link> or{' '}
            <Link href="/runs?kind=all">all traces</Link>. A trace is an agent run if one of its spans calls a
            model or a tool, or names the agent (<code>gen_ai.agent.name</code>).
          </p>
        )}
        {key_id !== null && <FirstKey value={key} onMade={setKey} />}
        <Tabs label="Ways to send a run" names={Object.keys(ways)} selected={tab} onSelect={setTab}>
          {way && (
            <section>
              <p>{way.about}</p>
              <Code text={way.code} />
            </section>
          )}
        </Tabs>
        {scopes.includes('admin') && (
          <section>
            <h2>A month of sample data, from the directory of Jackdaw</h2>
            <Code text={`npm run demo -- --url ${BASE.href} --otlp-url ${OTLP_ENDPOINT} --key ${key}`} />
          </section>
        )}
        <p role="status" className={styles['waiting']}>
          Waiting for the first {other ? 'agent run' : 'run'}, which opens here when it arrives…
        </p>
      </div>
    </div>
  );
}

/** Creates a key for the commands. It ends with the browser session, so it needs no other key as a proof. */
function FirstKey({ value, onMade }: { readonly value: string; readonly onMade: (key: string) => void }) {
  const { scopes, browser_session: session } = useMe();
  const change = useChange(async () => {
    const body = {
      name: 'First run',
      scopes: ['write' as const],
      ...(session && { expires_at: session.expires_at }),
    };
    const { key } = await bodyOf(api.POST('/api/v1/me/keys', { body }));
    onMade(key);
  }, ['keys']);
  const may = (scope: (typeof scopes)[number]): boolean => scopes.includes('admin') || scopes.includes(scope);
  if (value !== VARIABLE)
    return (
      <p>
        The key is in the commands below, and is not shown again after you leave this page.
        {session && (
          <>
            {' '}
            It ends with your session on <Time at={session.expires_at} />; for a program that stays, create
            one in <Link href="/settings/keys">your API keys</Link>.
          </>
        )}
      </p>
    );
  return (
    <div className={styles['key']}>
      {may('manage') && may('write') && (
        <button
          type="button"
          className={cx(parts['button'], parts['primary'])}
          disabled={change.isBusy}
          onClick={() => void change.run()}
        >
          Create a key for sending data
        </button>
      )}
      <p>
        Or set the variable <code>JACKDAW_KEY</code> to one of{' '}
        <Link href="/settings/keys">your API keys</Link> with the write scope.
      </p>
      {change.problem !== undefined && (
        <p role="alert" className={parts['bad']}>
          {change.problem}
        </p>
      )}
    </div>
  );
}

function Code({ text }: { readonly text: string }) {
  return (
    <div className={styles['code']}>
      <pre tabIndex={0}>{text}</pre>
      <CopyButton label="Copy" text={() => text} />
    </div>
  );
}
