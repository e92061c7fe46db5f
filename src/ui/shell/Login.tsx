import { useQuery } from '@tanstack/react-query';
import { useState, type ReactNode, type SyntheticEvent } from 'react';
import { BASE } from '../api/base.js';
import { ApiError, type Schemas } from '../api/client.js';
import { logIn, readLink, type Proof } from '../api/session.js';
import { formatDuration } from '../format/duration.js';
import { cx } from '../parts/cx.js';
import parts from '../parts/parts.module.css';
import { Jackdaw } from './Jackdaw.js';
import styles from './Login.module.css';

/** First part of the query keys of login links. */
export const LINK = 'login-link';

/** Logs in, one attempt at a time. @param onDone called after success */
function useLogIn(onDone: () => void) {
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string>();
  const enter = async (proof: Proof): Promise<void> => {
    if (isBusy) return;
    setBusy(true);
    setProblem(undefined);
    try {
      await logIn(proof);
      leaveLoginPage();
      onDone();
    } catch (error) {
      setProblem(messageFor(error, proof));
      setBusy(false);
    }
  };
  return { isBusy, problem, enter };
}

function leaveLoginPage(): void {
  if (location.pathname.endsWith('/login')) history.replaceState(null, '', BASE.pathname);
  // Makes the router read the path again.
  dispatchEvent(new PopStateEvent('popstate'));
}

function LoginPage({
  children,
  onSubmit,
}: {
  readonly children: ReactNode;
  readonly onSubmit: (event: SyntheticEvent) => void;
}) {
  return (
    <main className={styles['page']}>
      <title>Log in · Jackdaw</title>
      <form className={styles['form']} onSubmit={onSubmit}>
        <Jackdaw size={56} />
        <h1>Jackdaw</h1>
        {children}
      </form>
    </main>
  );
}

/**
 * Confirms a login by link, because a foreign page could otherwise switch the account unnoticed.
 *
 * @param me the current user
 */
export function LoginByLink({
  token,
  me,
  onDone,
  onCancel,
}: {
  readonly token: string;
  readonly me: Pick<Schemas['UserAccount'], 'name' | 'email'> | undefined;
  readonly onDone: () => void;
  readonly onCancel: () => void;
}) {
  const { isBusy, problem, enter } = useLogIn(onDone);
  const { data: owner, error } = useQuery({
    queryKey: [LINK, token],
    queryFn: () => readLink(token),
    gcTime: 0,
    retry: false,
    staleTime: Infinity,
  });
  const reason = problem ?? (error === null ? undefined : messageFor(error, { token }));
  const submit = (event: SyntheticEvent): void => {
    event.preventDefault();
    if (owner !== undefined) void enter({ token });
  };
  const cancel = (): void => {
    leaveLoginPage();
    onCancel();
  };
  return (
    <LoginPage onSubmit={submit}>
      {owner !== undefined && (
        <>
          <p>
            Log in as <strong>{owner.email}</strong> on this daemon?
          </p>
          {me === undefined ? (
            <p className={styles['help']}>Do so only if you asked for this link yourself.</p>
          ) : (
            <p role="status">
              You are logged in as <strong>{me.email}</strong>. That session will end.
            </p>
          )}
          <button type="submit" className={cx(parts['button'], parts['primary'])} disabled={isBusy}>
            {isBusy ? 'Logging in…' : `Log in as ${owner.email}`}
          </button>
        </>
      )}
      {reason !== undefined && (
        <p role="alert" className={parts['bad']}>
          {reason}
        </p>
      )}
      <button type="button" className={parts['button']} onClick={cancel}>
        {me === undefined ? 'Use a key instead' : `Stay logged in as ${me.email}`}
      </button>
    </LoginPage>
  );
}

/** Logs in with a key. */
export function Login({
  wasEnded,
  onDone,
}: {
  /** Whether a session just ended. */
  readonly wasEnded: boolean;
  readonly onDone: () => void;
}) {
  const [key, setKey] = useState('');
  const { isBusy, problem, enter } = useLogIn(onDone);
  const submit = (event: SyntheticEvent): void => {
    event.preventDefault();
    if (key.trim() !== '') void enter({ key: key.trim() });
  };
  return (
    <LoginPage onSubmit={submit}>
      {wasEnded && (
        <p role="status">
          Your session has ended: it or its key was revoked, its key has expired, or it was idle too long.
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
        The first start writes a key to the file <code>initial-api-key</code> next to the control store. Or
        run <code>jackdaw login</code> on the machine of the daemon to get a login link.
      </p>
    </LoginPage>
  );
}

function messageFor(error: unknown, proof: Proof): string {
  if (!(error instanceof ApiError)) return 'The daemon did not respond. It may be stopped or starting.';
  if (error.status === 401)
    return 'key' in proof
      ? 'Unknown or revoked key.'
      : 'This link has expired or was already used. Run jackdaw login for a new one, or use a key.';
  if (error.status === 429 && error.retryAfter !== undefined)
    return `Too many attempts. Wait ${formatDuration(error.retryAfter * 1000)}.`;
  return error.message;
}
