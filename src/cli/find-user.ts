import { listUsers } from '../api/resources/users.js';
import { isUuid } from '../signal/ids.js';
import type { ApiClient } from './api-client.js';

/**
 * Finds the id of a user named by id or e-mail address.
 *
 * @throws Error if no user has that address
 */
export async function findUserId(client: ApiClient, user: string): Promise<string> {
  if (isUuid(user)) return user.toLowerCase();
  const wanted = user.toLowerCase();
  const found = (await client.call(listUsers)).find(({ email }) => email.toLowerCase() === wanted);
  if (!found)
    throw new Error(
      `There is no user "${user}": give an id or an e-mail address that "jackdaw users list" shows.`,
    );
  return found.id;
}
