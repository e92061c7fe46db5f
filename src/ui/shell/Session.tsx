import { useQuery, useQueryClient } from '@tanstack/react-query';
import { createContext, use, useEffect, useState, type ReactNode } from 'react';
import { ApiError, type Schemas } from '../api/client.js';
import { Failure } from '../parts/states.js';
import { ME } from '../state/queries.js';
import { Login, type LinkState } from './Login.js';

type Me = Schemas['Me'];
const MeContext = createContext<Me | undefined>(undefined);

/** Knows who looks, or asks for a login; nothing below is there before. */
export function Session({ children }: { readonly children: ReactNode }) {
  const client = useQueryClient();
  const { data, error, refetch } = useQuery(ME);
  const [wasEnded, setWasEnded] = useState(false);
  const [link, setLink] = useState<LinkState>();
  useEffect(() => {
    // A session may end at any time: the next answer of whatever page says so.
    return client.getQueryCache().subscribe(({ query }) => {
      const failed = query.state.error as unknown;
      if (
        failed instanceof ApiError &&
        failed.status === 401 &&
        // A page may ask before it is known whether there is a session at all.
        client.getQueryData(ME.queryKey) !== undefined
      ) {
        setWasEnded(true);
        void client.resetQueries({ queryKey: ME.queryKey });
      }
    });
  }, [client]);
  const enter = (): void => {
    setWasEnded(false);
    setLink(undefined);
    client.clear();
    void refetch();
  };
  const isRefused = error instanceof ApiError && error.status === 401;
  const hasToken = location.hash.startsWith('#t=');
  // Who still has a session goes on with it where a link is refused; nobody else loses sight of why.
  const isWithLink = hasToken || link === 'taken' || (link === 'refused' && data === undefined);
  if (isRefused || isWithLink) return <Login wasEnded={wasEnded} onLink={setLink} onDone={enter} />;
  if (data === undefined) return error ? <Failure isPage error={error} retry={() => void refetch()} /> : null;
  return <MeContext value={data}>{children}</MeContext>;
}

/** Who looks, and with what scopes. */
export function useMe(): Me {
  const me = use(MeContext);
  if (!me) throw new Error('there is no Session above');
  return me;
}
