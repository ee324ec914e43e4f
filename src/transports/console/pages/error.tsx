import type { DomainError } from '../../../domain/errors.ts';
import { Card, Heading } from '../components/content.tsx';
import { Actions, ButtonLink } from '../components/form.tsx';
import { plainMessage } from '../form-errors.ts';
import type { ShownPage } from '../route.ts';

const titles: Record<number, string> = {
  403: 'That was not accepted',
  404: 'There is nothing here',
  405: 'That does not work here',
  413: 'That is too much',
  415: 'That does not work here',
  429: 'One moment, please',
  500: 'Something went wrong here',
  503: 'We cannot do that right now',
};

export interface ErrorPageContent {
  title: string;
  message: string;
  /** To name when asking for help. */
  request_id: string;
  /** Where the way goes on; to the console when there is none. */
  link?: { href: string; text: string } | undefined;
}

/** An error as a page. */
export function errorPage(error: DomainError, request_id: string): ShownPage {
  const { status, retry_after } = error;
  const title = titles[status] ?? 'That did not work';
  return { ...messagePage({ title, message: plainMessage(error), request_id }, status), retry_after };
}

/** What happened, what to do, and what to name when asking for help. */
export function messagePage(
  { title, message, request_id, link }: ErrorPageContent,
  status: number,
): ShownPage {
  const { href, text } = link ?? { href: '/console', text: 'To the console' };
  const body = (
    <>
      <Heading title={title} />
      <Card>
        <p>{message}</p>
        <Actions>
          <ButtonLink href={href}>{text}</ButtonLink>
        </Actions>
      </Card>
      <p class="aside">
        Request <span class="code">{request_id}</span>
      </p>
    </>
  );
  return { title, body, status, shell: 'focus' };
}
