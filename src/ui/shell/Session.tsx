import { hashKey, useQuery, useQueryClient } from '@tanstack/react-query';
import { createContext, use, useEffect, useState, type ReactNode } from 'react';
import { ApiError, type Schemas } from '../api/client.js';
import { Failure } from '../parts/states.js';
import { ME } from '../state/queries.js';
import { LINK, Login, LoginByLink } from './Login.js';
import styles from './Shell.module.css';

type Me = Schemas['Me'];

/** How often the session is checked, while the daemon responds and while it does not. */
const CHECK_MS = 15_000;
const RECONNECT_MS = 2000;

const ME_HASH = hashKey(ME.queryKey);
const openedWith = takeToken();
const MeContext = createContext<Me | undefined>(undefined);
const LostContext = createContext(false);

/**
 * Loads the current user, or shows the login. Children render only with a session. Repeated checks find out that
 * the session ended or the daemon is gone; when it is back, all that is shown loads again.
 */
export function Session({ children }: { readonly children: ReactNode }) {
  const client = useQueryClient();
  const { data, error, refetch } = useQuery({
    ...ME,
    retry: false,
    refetchInterval: ({ state: { error: failed } }) =>
      failed === null ? CHECK_MS : isRefusal(failed) ? false : RECONNECT_MS,
  });
  const isLost = data !== undefined && error !== null;
  useEffect(() => {
    if (!isLost) return undefined;
    return () => {
      void client.invalidateQueries();
    };
  }, [client, isLost]);
  const [wasEnded, setWasEnded] = useState(false);
  const [token, setToken] = useState(openedWith);
  useEffect(() => {
    // A session may end at any time; the next failed query reveals it.
    return client.getQueryCache().subscribe(({ query }) => {
      const failed = query.state.error as unknown;
      if (
        failed instanceof ApiError &&
        failed.status === 401 &&
        // A refused link does not end the session.
        (query.queryKey as readonly unknown[])[0] !== LINK &&
        // Pages may send requests before the session is known.
        client.getQueryData(ME.queryKey) !== undefined
      ) {
        setWasEnded(true);
        void client.resetQueries({ queryKey: ME.queryKey });
      }
    });
  }, [client]);
  useEffect(() => {
    // A request without a response: check now whether the daemon is gone.
    return client.getQueryCache().subscribe((event) => {
      if (event.type !== 'updated' || event.query.queryHash === ME_HASH) return;
      const { action } = event;
      if (action.type !== 'failed' && action.type !== 'error') return;
      if (
        !((action.error as unknown) instanceof ApiError) &&
        client.getQueryState(ME.queryKey)?.status === 'success'
      )
        void client.invalidateQueries({ queryKey: ME.queryKey }, { cancelRefetch: false });
    });
  }, [client]);
  useEffect(() => {
    const look = (): void => {
      const found = takeToken();
      if (found !== undefined) setToken(found);
    };
    addEventListener('hashchange', look);
    addEventListener('popstate', look);
    return () => {
      removeEventListener('hashchange', look);
      removeEventListener('popstate', look);
    };
  }, []);
  const enter = (): void => {
    setWasEnded(false);
    setToken(undefined);
    client.clear();
    void refetch();
  };
  const isRefused = isRefusal(error);
  // The question names the current user, so it waits for that.
  if (token !== undefined && (data !== undefined || error !== null))
    return (
      <LoginByLink
        key={token}
        token={token}
        me={data?.user}
        onDone={enter}
        onCancel={() => setToken(undefined)}
      />
    );
  if (isRefused) return <Login wasEnded={wasEnded} onDone={enter} />;
  if (data === undefined) return error ? <Failure isPage error={error} retry={() => void refetch()} /> : null;
  return (
    <MeContext value={data}>
      {isLost && (
        <p role="alert" className={styles['lost']}>
          Disconnected from the daemon: what you see may be outdated. Reconnecting…
        </p>
      )}
      <LostContext value={isLost}>{children}</LostContext>
    </MeContext>
  );
}

/** Whether there is no session. */
function isRefusal(error: Error | null): boolean {
  return error instanceof ApiError && error.status === 401;
}

/** Takes the token of a login link out of the address, so that it does not stay in the history. */
function takeToken(): string | undefined {
  const [, token] = /^#t=(.+)$/.exec(location.hash) ?? [];
  if (token !== undefined) history.replaceState(null, '', location.pathname + location.search);
  return token;
}

/** The current user with scopes. */
export function useMe(): Me {
  const me = use(MeContext);
  if (!me) throw new Error('must be used inside <Session>');
  return me;
}

/** Whether the daemon does not respond. */
export function useIsLost(): boolean {
  return use(LostContext);
}
