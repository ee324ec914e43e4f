import type { ComponentChildren } from 'preact';
import { Card, ErrorNotice, Heading } from '../components/content.tsx';
import { Actions, ButtonLink } from '../components/form.tsx';
import { formPage, type ShownErrors } from '../form-errors.ts';
import type { ShownPage } from '../route.ts';

interface FocusPage extends Partial<ShownPage> {
  lead?: string | undefined;
  /** The next step. */
  link?: { href: string; text: string } | undefined;
  /** Below the card. */
  aside?: ComponentChildren;
  /** Of the form in the card. */
  errors?: ShownErrors | undefined;
}

/** A page for a single task: a title and one card. */
export function focusPage(
  title: string,
  content: ComponentChildren,
  { lead, link, aside, errors, ...page }: FocusPage = {},
): ShownPage {
  const body = (
    <>
      <Heading title={title} lead={lead} />
      <Card>
        <ErrorNotice message={errors?.message} />
        {content}
        {link && (
          <Actions>
            <ButtonLink href={link.href} kind="primary">
              {link.text}
            </ButtonLink>
          </Actions>
        )}
      </Card>
      {aside && <div class="aside">{aside}</div>}
    </>
  );
  return { ...formPage(title, body, errors), shell: 'focus', ...page };
}
