import { useEffect, useEffectEvent, useState, type SyntheticEvent } from 'react';
import { BASE } from '../api/base.js';
import { ApiError } from '../api/client.js';
import { logIn, type Proof } from '../api/session.js';
import { formatDuration } from '../format/duration.js';
import { cx } from '../parts/cx.js';
import parts from '../parts/parts.module.css';
import { Jackdaw } from './Jackdaw.js';
import styles from './Login.module.css';

/** What became of the token of a link: it is being tried, or it was no good. */
export type LinkState = 'taken' | 'refused';

/** Takes a key, or the token of a link, which stands behind the `#` and so reaches no log. */
export function Login({
  wasEnded,
  onLink,
  onDone,
}: {
  /** Somebody was here until a moment ago. */
  readonly wasEnded: boolean;
  /** Told before anything else may look at the address, which has no token any more then. */
  readonly onLink: (state: LinkState) => void;
  readonly onDone: () => void;
}) {
  const [key, setKey] = useState('');
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string>();
  const enter = async (proof: Proof): Promise<void> => {
    setBusy(true);
    setProblem(undefined);
    try {
      await logIn(proof);
      if (location.pathname.endsWith('/login')) history.replaceState(null, '', BASE.pathname);
      // A click on the next link looks at the path again.
      dispatchEvent(new PopStateEvent('popstate'));
      onDone();
    } catch (error) {
      setProblem(wordsFor(error, proof));
      setBusy(false);
      if ('token' in proof) onLink('refused');
    }
  };
  const enterWith = useEffectEvent(enter);
  const tellLink = useEffectEvent(onLink);
  useEffect(() => {
    const [, token] = /^#t=(.+)$/.exec(location.hash) ?? [];
    if (token === undefined) return;
    // It is good for once: not to be found in the history.
    history.replaceState(null, '', location.pathname + location.search);
    tellLink('taken');
    void enterWith({ token });
    // Once, with what the page was opened with.
  }, []);
  const submit = (event: SyntheticEvent): void => {
    event.preventDefault();
    if (key.trim() !== '' && !isBusy) void enter({ key: key.trim() });
  };
  return (
    <main className={styles['page']}>
      <title>Log in · Jackdaw</title>
      <form className={styles['form']} onSubmit={submit}>
        <Jackdaw size={56} />
        <h1>Jackdaw</h1>
        {wasEnded && (
          <p role="status">
            Your session has ended: its key was revoked or has expired, or it was idle too long.
          </p>
        )}
        <label htmlFor="key">API key</label>
        <input
          id="key"
          className={parts['field']}
          type="password"
          autoComplete="off"
          spellCheck={false}
          placeholder="jd_…"
          value={key}
          aria-describedby={problem === undefined ? 'help' : 'problem help'}
          aria-invalid={problem !== undefined}
          onChange={(event) => {
            setKey(event.target.value);
          }}
        />
        {problem !== undefined && (
          <p id="problem" role="alert" className={parts['bad']}>
            {problem}
          </p>
        )}
        <button type="submit" className={cx(parts['button'], parts['primary'])} disabled={isBusy}>
          {isBusy ? 'Logging in…' : 'Log in'}
        </button>
        <p id="help" className={styles['help']}>
          The first key is in <code>data/initial-api-key</code>. Or run <code>jackdaw login</code> beside the
          daemon for a link that logs you in once.
        </p>
      </form>
    </main>
  );
}

function wordsFor(error: unknown, proof: Proof): string {
  if (!(error instanceof ApiError)) return 'The daemon did not answer. It may be stopped or starting.';
  if (error.status === 401)
    return 'key' in proof
      ? 'This key is not known here, or it was revoked.'
      : 'This link has been used or is too old. Run jackdaw login for another one, or use a key.';
  if (error.status === 429 && error.retryAfter !== undefined)
    return `Too many tries. Wait ${formatDuration(error.retryAfter * 1000)}.`;
  return error.message;
}
