import { Icon } from './icon.tsx';

interface NextPageProps {
  /** Path of the list. */
  path: string;
  /** What the next page is asked for with; undefined, or with an undefined part, when this is the last one. */
  next: Record<string, string | undefined> | undefined;
  /** "agents" */
  what: string;
}

/** The way to the next page of a list, if there is one. */
export function NextPage({ path, next, what }: NextPageProps) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(next ?? {})) {
    if (value === undefined) return null;
    query.set(name, value);
  }
  if (query.size === 0) return null;
  return (
    <p class="next-page">
      <a href={`${path}?${query.toString()}`} rel="next">
        More {what} <Icon name="arrow" />
      </a>
    </p>
  );
}
