import type { DomainError } from '../../../../packages/core/src/domain/errors.ts';
import { focusPage } from '../define/focus-page.tsx';
import { plainMessage } from '../form-errors.ts';
import type { ShownPage } from '../route.ts';

const titles: Record<number, string> = {
  403: 'Not allowed',
  404: 'Page not found',
  405: 'Method not allowed',
  413: 'Too much data',
  415: 'Unsupported content type',
  429: 'Too many requests',
  500: 'Something went wrong',
  503: 'Temporarily unavailable',
};

export interface ErrorPageContent {
  title: string;
  message: string;
  /** For support requests. */
  request_id: string;
  /** The next step. Default: a link to the console. */
  link?: { href: string; text: string } | undefined;
}

/** The page for an error. */
export function errorPage(error: DomainError, request_id: string): ShownPage {
  const { status, retry_after } = error;
  const title = titles[status] ?? 'Something went wrong';
  return { ...messagePage({ title, message: plainMessage(error), request_id }, status), retry_after };
}

/** A page with a message, the next step and the request id. */
export function messagePage(
  { title, message, request_id, link }: ErrorPageContent,
  status: number,
): ShownPage {
  return focusPage(title, <p>{message}</p>, {
    status,
    link: link ?? { href: '/console', text: 'Go to the console' },
    aside: (
      <>
        Request id: <span class="code">{request_id}</span>
      </>
    ),
  });
}
