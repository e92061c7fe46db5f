import { HttpProblem } from '../../component/http.js';
import { ConflictError } from '../../storage/contracts/errors.js';

/** @throws HttpProblem 409 `conflict` where the store says that a name is taken or a limit is reached; other errors pass. */
export async function conflictAsProblem<Result>(change: Promise<Result>): Promise<Result> {
  try {
    return await change;
  } catch (error) {
    if (!(error instanceof ConflictError)) throw error;
    const detail = error.field === 'prompt' ? error.message : `The ${error.field} is already taken.`;
    throw new HttpProblem(409, 'conflict', detail, { cause: error });
  }
}

/** 409 where nobody could administer any more. @param what `This is`, or whose key it is */
export function lastAdmin(what: string): HttpProblem {
  return new HttpProblem(
    409,
    'conflict',
    `${what} the last key with the scope admin that does not expire. Create another one without expires_at first.`,
  );
}
