import { useQuery } from '@tanstack/react-query';
import { api, bodyOf } from '../../api/client.js';
import parts from '../../parts/parts.module.css';
import { TableSkeleton } from '../../parts/Skeleton.js';
import { Empty, Failure } from '../../parts/states.js';
import { useMe } from '../../shell/Session.js';
import { KeyTable } from './KeyTable.js';
import { NewKey } from './NewKey.js';

/** The caller's keys, usable and former. */
export function OwnKeys() {
  const { scopes } = useMe();
  const { data, error, refetch } = useQuery({
    queryKey: ['own-keys'],
    queryFn: ({ signal }) => bodyOf(api.GET('/api/v1/me/keys', { signal })),
  });
  if (error && !data) return <Failure error={error} retry={() => void refetch()} />;
  if (!data) return <TableSkeleton rows={4} />;
  const canManage = scopes.includes('manage') || scopes.includes('admin');
  return (
    <>
      {canManage ? (
        <NewKey
          create={async (body) => (await bodyOf(api.POST('/api/v1/me/keys', { body }))).key}
          stale="own-keys"
        />
      ) : (
        <p className={parts['filters']}>
          Read-only session: creating and revoking keys requires the manage scope.
        </p>
      )}
      {data.length === 0 ? (
        <Empty title="You have no keys yet" />
      ) : (
        <KeyTable
          keys={data}
          revoke={async (key_id, with_children) => {
            await bodyOf(
              api.DELETE('/api/v1/me/keys/{key_id}', {
                params: { path: { key_id }, query: { with_children } },
              }),
            );
          }}
          stale="own-keys"
        />
      )}
    </>
  );
}
