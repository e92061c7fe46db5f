import { Link } from 'wouter';
import { Empty } from '../parts/states.js';

/** For unknown paths. */
export function NotFound() {
  return (
    <Empty title="Page not found" isPage>
      <title>Not found · Jackdaw</title>
      <p>
        The link may be mistyped, or from another version. <Link href="/">Overview</Link>
      </p>
    </Empty>
  );
}
