import type { Context } from 'koa';
import { addressKey } from '../../http/address-key.ts';
import {
  beginExternal,
  finishExternal,
  signUpExternal,
  suggestedUsername,
} from '../../services/identities.ts';
import { cookieOf, setCookie } from '../cookies.ts';
import { said } from '../flash.ts';
import { NewAccountFields } from '../kit/account-fields.tsx';
import { Card, Heading, Refused } from '../kit/content.tsx';
import { Button, Form } from '../kit/form.tsx';
import type { PageParts } from '../parts.ts';
import { formPage, orAgain, type Refusal } from '../refusal.ts';
import { returnTo } from '../return-to.ts';
import { type ConsoleRoute, openAction, openPage, type ShownPage, signInAddress } from '../route.ts';
import { externalFailure } from './external-failure.tsx';

const begin = '/sign-in/external';
const choose = '/sign-in/external/username';
const cookieLife_ms = 1_800_000;

/** Notes in this browser what it must bring back from the provider. */
export function keepForReturn(ctx: Context, token: string): void {
  setCookie(ctx, 'external', token, cookieLife_ms);
}

/** Signing in, and up, through an OpenID Connect provider. Nothing where there is none. */
export function externalSignInRoutes(parts: PageParts): ConsoleRoute[] {
  const { unitOfWork, limits, sessions, settings, external } = parts;
  if (!external) return [];
  const { name, provider } = external;
  const { signup } = settings;

  return [
    openPage(begin, async ({ ctx, query, person }) => {
      const to = returnTo(query.get('to'));
      // Only who is on a page of ours begins: another site could sign a visitor in as somebody.
      const elsewhere = ['cross-site', 'same-site'].includes(ctx.get('Sec-Fetch-Site'));
      if (person || elsewhere) return { to: person ? to : signInAddress(to) };
      await limits.spend('sign_in_address', addressKey(ctx));
      const begun = await beginExternal(unitOfWork, provider, { to, account_id: null });
      if (!begun) return externalFailure('away', name, person);
      keepForReturn(ctx, begun.token);
      ctx.redirect(begun.address);
      return 'handled';
    }),

    openPage(`${begin}/callback`, async ({ ctx, person }) => {
      const token = cookieOf(ctx, 'external');
      setCookie(ctx, 'external', null);
      if (token === undefined) return externalFailure('expired', name, person);
      const back = { token, query: ctx.querystring, person };
      const end = await finishExternal(unitOfWork, provider, back, signup);
      if (end.outcome === 'failed') return externalFailure(end.reason, name, person);
      if (end.outcome === 'connected')
        return { to: end.to, flash: said(`Your account is connected with ${name}.`) };
      if (end.outcome === 'new') {
        keepForReturn(ctx, end.token);
        return { to: choose };
      }
      await sessions.begin(ctx, end.account_id);
      return { to: returnTo(end.to) };
    }),

    openPage(choose, async ({ ctx, person }) => {
      const pending = await suggestedUsername(unitOfWork, cookieOf(ctx, 'external') ?? '');
      if (!pending || signup === 'closed') return externalFailure('expired', name, person);
      return choicePage({ name, signup, username: pending.suggested_username ?? undefined });
    }),

    openAction(choose, ({ ctx, form, person }) => {
      const username = form.get('username') ?? '';
      const invitation = form.get('invitation') ?? undefined;
      return orAgain(
        async () => {
          await limits.spend('sign_up', addressKey(ctx));
          const token = cookieOf(ctx, 'external') ?? '';
          const opened = await signUpExternal(unitOfWork, token, { username, invitation }, signup);
          if (!opened) return externalFailure('expired', name, person);
          setCookie(ctx, 'external', null);
          await sessions.begin(ctx, opened.account_id);
          const text = `Welcome, ${username.trim().toLowerCase()}. Your account is ready.`;
          return { to: returnTo(opened.to), flash: said(text) };
        },
        (refusal) => choicePage({ name, signup, username, invitation, refusal }),
      );
    }),
  ];
}

interface ChoicePage {
  name: string;
  signup: PageParts['settings']['signup'];
  username: string | undefined;
  invitation?: string | undefined;
  refusal?: Refusal;
}

function choicePage({ name, signup, username, invitation, refusal }: ChoicePage): ShownPage {
  const wrong = refusal?.fields ?? {};
  const body = (
    <>
      <Heading title="Choose a username" lead={`${name} has told us who you are. You are new here.`} />
      <Card>
        <Refused {...refusal} />
        <Form action={choose}>
          <NewAccountFields
            invited={signup === 'invite'}
            username={username}
            invitation={invitation}
            wrong={wrong}
          />
          <Button wide>Create the account</Button>
        </Form>
      </Card>
      <p class="aside">
        You have an account here? <a href="/sign-in">Sign in</a> with its password, then connect it with{' '}
        {name}.
      </p>
    </>
  );
  return formPage('Choose a username', body, refusal, 'focus');
}
