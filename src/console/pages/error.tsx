import type { DomainError } from '../../domain/errors.ts';
import { Card, Heading } from '../kit/content.tsx';
import { Actions, ButtonLink } from '../kit/form.tsx';
import { plainMessage } from '../refusal.ts';
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

/** An error as a page: what happened, what to do, and what to name when asking for help. */
export function errorPage(error: DomainError, request_id: string): ShownPage {
  const { status, retry_after } = error;
  const title = titles[status] ?? 'That did not work';
  const body = (
    <>
      <Heading title={title} />
      <Card>
        <p>{plainMessage(error)}</p>
        <Actions>
          <ButtonLink href="/console" kind="primary">
            To the console
          </ButtonLink>
        </Actions>
        <p class="aside">
          Request <span class="code">{request_id}</span>
        </p>
      </Card>
    </>
  );
  return { title, body, status, retry_after, shell: 'focus' };
}
