import { Icon } from './icon.tsx';

interface NextPageProps {
  /** Path of the list. */
  path: string;
  /** What the next page is asked for with; undefined when this is the last one. */
  next: Record<string, string> | undefined;
  /** "agents" */
  what: string;
}

/** The way to the next page of a list, if there is one. */
export function NextPage({ path, next, what }: NextPageProps) {
  if (!next) return null;
  return (
    <p class="next-page">
      <a href={`${path}?${new URLSearchParams(next).toString()}`} rel="next">
        More {what} <Icon name="arrow" />
      </a>
    </p>
  );
}
