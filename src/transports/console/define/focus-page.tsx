import type { ComponentChildren } from 'preact';
import { Card, Heading } from '../components/content.tsx';
import type { ShownPage } from '../route.ts';

/** A page for a single task: a title and one card. */
export function focusPage(
  title: string,
  content: ComponentChildren,
  { lead, ...page }: Partial<ShownPage> & { lead?: string } = {},
): ShownPage {
  const body = (
    <>
      <Heading title={title} lead={lead} />
      <Card>{content}</Card>
    </>
  );
  return { title, body, shell: 'focus', ...page };
}
