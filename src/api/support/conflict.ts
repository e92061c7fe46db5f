import { HttpProblem } from '../../component/http.js';
import { ConflictError } from '../../storage/contracts/errors.js';

/** @throws HttpProblem 409 `conflict` if the store reports a taken name or a reached limit; other errors pass. */
export async function conflictAsProblem<Result>(change: Promise<Result>): Promise<Result> {
  try {
    return await change;
  } catch (error) {
    if (!(error instanceof ConflictError)) throw error;
    const detail = error.field === 'prompt' ? error.message : `The ${error.field} is already taken.`;
    throw new HttpProblem(409, 'conflict', detail, { cause: error });
  }
}

/** 409 if no administrator would be left. @param what `This is`, or the owner of the key */
export function lastAdmin(what: string): HttpProblem {
  return new HttpProblem(
    409,
    'conflict',
    `${what} the last key with the scope admin that does not expire. Create another one without expires_at first.`,
  );
}
