import { HttpProblem } from '../../component/http.js';
import type { Identity } from '../../component/identity.js';
import type { Organizations, Role } from '../../storage/contracts/accounts.js';
import { notFound } from './not-found.js';

/**
 * Requires membership in an organization.
 *
 * @param role `admin`: admins only; `member`: all members
 * @returns the role of the caller
 * @throws HttpProblem 404 for non-members, as for an organization that does not exist; 403 `forbidden_role`
 */
export async function requireRole(
  organizations: Pick<Organizations, 'membershipsOf'>,
  identity: Identity,
  slug: string,
  role: Role,
): Promise<Role> {
  const membership = (await organizations.membershipsOf(identity.userId)).find((own) => own.slug === slug);
  if (!membership) throw noOrganization();
  if (role === 'admin' && membership.role !== 'admin')
    throw new HttpProblem(
      403,
      'forbidden_role',
      `This needs the role "admin" in the organization; yours is "${membership.role}".`,
    );
  return membership.role;
}

export function noOrganization(): HttpProblem {
  return notFound('organization');
}
