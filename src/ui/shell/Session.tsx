import { useQuery, useQueryClient } from '@tanstack/react-query';
import { createContext, use, useEffect, useState, type ReactNode } from 'react';
import { ApiError, type Schemas } from '../api/client.js';
import { Failure } from '../parts/states.js';
import { ME } from '../state/queries.js';
import { LINK, Login, LoginByLink } from './Login.js';

type Me = Schemas['Me'];
const openedWith = takeToken();
const MeContext = createContext<Me | undefined>(undefined);

/** Knows who looks, or asks for a login; nothing below is there before. */
export function Session({ children }: { readonly children: ReactNode }) {
  const client = useQueryClient();
  const { data, error, refetch } = useQuery(ME);
  const [wasEnded, setWasEnded] = useState(false);
  const [token, setToken] = useState(openedWith);
  useEffect(() => {
    // A session may end at any time: the next answer of whatever page says so.
    return client.getQueryCache().subscribe(({ query }) => {
      const failed = query.state.error as unknown;
      if (
        failed instanceof ApiError &&
        failed.status === 401 &&
        // That a link is refused says nothing of the session.
        (query.queryKey as readonly unknown[])[0] !== LINK &&
        // A page may ask before it is known whether there is a session at all.
        client.getQueryData(ME.queryKey) !== undefined
      ) {
        setWasEnded(true);
        void client.resetQueries({ queryKey: ME.queryKey });
      }
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
  const isRefused = error instanceof ApiError && error.status === 401;
  // The question says who is logged in now, so it waits until that is known.
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
  return <MeContext value={data}>{children}</MeContext>;
}

/** The token of a link in the address, which has it no more then: it is not to be found in the history. */
function takeToken(): string | undefined {
  const [, token] = /^#t=(.+)$/.exec(location.hash) ?? [];
  if (token !== undefined) history.replaceState(null, '', location.pathname + location.search);
  return token;
}

/** Who looks, and with what scopes. */
export function useMe(): Me {
  const me = use(MeContext);
  if (!me) throw new Error('must be used inside <Session>');
  return me;
}
