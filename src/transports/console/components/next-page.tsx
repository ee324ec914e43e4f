import { Icon } from './icon.tsx';

interface NextPageProps {
  /** Path of the list. */
  path: string;
  /** Query of the next page; undefined, or with an undefined value, on the last page. */
  next: Record<string, string | undefined> | undefined;
  /** Plural name of the items, such as "agents". */
  noun: string;
}

/** A link to the next page of a list, if there is one. */
export function NextPage({ path, next, noun }: NextPageProps) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(next ?? {})) {
    if (value === undefined) return null;
    query.set(name, value);
  }
  if (query.size === 0) return null;
  return (
    <p class="next-page">
      <a href={`${path}?${query.toString()}`} rel="next">
        More {noun} <Icon name="arrow" />
      </a>
    </p>
  );
}
