import { HttpProblem } from '../../component/http.js';

/** The same answer for what does not exist and for what belongs to somebody else. @param what `trace`, `agent` */
export function notFound(what: string): HttpProblem {
  return new HttpProblem(404, 'not_found', `There is no such ${what}.`);
}
