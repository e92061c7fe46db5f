import { HttpProblem } from '../../component/http.js';

/** The same response for missing objects and for objects of other users. @param what `trace`, `agent` */
export function notFound(what: string): HttpProblem {
  return new HttpProblem(404, 'not_found', `There is no such ${what}.`);
}
