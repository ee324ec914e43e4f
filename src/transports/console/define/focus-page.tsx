import type { ComponentChildren } from 'preact';
import { Card, ErrorNotice, Heading } from '../components/content.tsx';
import { formPage, type ShownErrors } from '../form-errors.ts';
import type { ShownPage } from '../route.ts';

interface FocusPage extends Partial<ShownPage> {
  lead?: string | undefined;
  /** Below the card. */
  aside?: ComponentChildren;
  /** Of the form in the card. */
  errors?: ShownErrors | undefined;
}

/** A page for a single task: a title and one card. */
export function focusPage(
  title: string,
  content: ComponentChildren,
  { lead, aside, errors, ...page }: FocusPage = {},
): ShownPage {
  const body = (
    <>
      <Heading title={title} lead={lead} />
      <Card>
        <ErrorNotice message={errors?.message} />
        {content}
      </Card>
      {aside && <div class="aside">{aside}</div>}
    </>
  );
  return { ...formPage(title, body, errors), shell: 'focus', ...page };
}
