import { HttpProblem, type HttpRequest } from '../../src/component/http.js';
import type { Identity } from '../../src/component/identity.js';

export const USER = '11111111-1111-7111-8111-111111111111';
/** A key of {@link USER} that may write. */
export const KEY = 'jd_good';
/** A key of the same user that may only read. */
export const READER_KEY = 'jd_reader';

const OTHER_USER = '22222222-2222-7222-8222-222222222222';
/** A key of {@link OTHER_USER} that may write. */
export const OTHER_KEY = 'jd_other_good';

/** Like `Host.authenticate`, for unit tests of a component. */
export function authenticateKnown(
  request: Pick<HttpRequest, 'header' | 'identified'>,
  scope?: Identity['scopes'][number],
): Identity {
  const identity = identityOf(request, scope);
  request.identified?.(identity);
  return identity;
}

function identityOf(
  request: Pick<HttpRequest, 'header'>,
  scope: Identity['scopes'][number] | undefined,
): Identity {
  const key = request.header('authorization')?.slice('Bearer '.length);
  if (key === OTHER_KEY) return { userId: OTHER_USER, keyId: null, scopes: ['write'] };
  if (key !== KEY && key !== READER_KEY) throw new HttpProblem(401, 'unauthenticated', 'No valid key.');
  if (key === READER_KEY && scope !== 'read')
    throw new HttpProblem(403, 'forbidden_scope', 'The key may not do this.');
  return { userId: USER, keyId: null, scopes: key === KEY ? ['write'] : ['read'] };
}
