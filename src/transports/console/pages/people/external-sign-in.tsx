import type { Context } from 'koa';
import { addressKey } from '../../../http/address-key.ts';
import {
  beginExternalSignIn,
  finishExternalSignIn,
  signUpExternal,
  readSuggestedUsername,
} from '../../../../services/people/external-identities.ts';
import { cookieOf, setCookie } from '../../cookies.ts';
import { successFlash } from '../../flash.ts';
import { NewAccountFields } from './account-fields.tsx';
import { Card, Heading, ErrorNotice } from '../../components/content.tsx';
import { Button, Form } from '../../components/form.tsx';
import type { PageParts } from '../../parts.ts';
import { formPage, orShowFormAgain, type FormRefusal } from '../../form-errors.ts';
import {
  safeReturnPath,
  type ConsoleRoute,
  publicAction,
  publicPage,
  type ShownPage,
  signInAddress,
} from '../../route.ts';
import { externalFailurePage } from './external-failure.tsx';

const beginPath = '/sign-in/external';
const usernamePath = '/sign-in/external/username';
const cookieLifetimeMs = 1_800_000;

/** Notes in this browser what it must bring back from the provider. */
export function setExternalCookie(ctx: Context, token: string): void {
  setCookie(ctx, 'external', token, cookieLifetimeMs);
}

/** Signing in, and up, through an OpenID Connect provider. Nothing where there is none. */
export function externalSignInRoutes(parts: PageParts): ConsoleRoute[] {
  const { unitOfWork, limits, sessions, settings, external } = parts;
  if (!external) return [];
  const { name, provider } = external;
  const { signup } = settings;

  return [
    publicPage(beginPath, async ({ ctx, query, person }) => {
      const to = safeReturnPath(query.get('to'));
      // Only who is on a page of ours begins: another site could sign a visitor in as somebody.
      const elsewhere = ['cross-site', 'same-site'].includes(ctx.get('Sec-Fetch-Site'));
      if (person || elsewhere) return { to: person ? to : signInAddress(to) };
      await limits.consume('sign_in_address', addressKey(ctx));
      const begun = await beginExternalSignIn(unitOfWork, provider, { to, account_id: null });
      if (!begun) return externalFailurePage('unavailable', name, person);
      setExternalCookie(ctx, begun.token);
      ctx.redirect(begun.address);
      return 'handled';
    }),

    publicPage(`${beginPath}/callback`, async ({ ctx, person }) => {
      const token = cookieOf(ctx, 'external');
      setCookie(ctx, 'external', null);
      if (token === undefined) return externalFailurePage('expired', name, person);
      const back = { token, query: ctx.querystring, person };
      const end = await finishExternalSignIn(unitOfWork, provider, back, signup);
      if (end.outcome === 'failed') return externalFailurePage(end.reason, name, person);
      if (end.outcome === 'connected')
        return { to: end.to, flash: successFlash(`Your account is connected with ${name}.`) };
      if (end.outcome === 'new') {
        setExternalCookie(ctx, end.token);
        return { to: usernamePath };
      }
      await sessions.begin(ctx, end.account_id);
      return { to: safeReturnPath(end.to) };
    }),

    publicPage(usernamePath, async ({ ctx, person }) => {
      const pending = await readSuggestedUsername(unitOfWork, cookieOf(ctx, 'external') ?? '');
      if (!pending || signup === 'closed') return externalFailurePage('expired', name, person);
      return choicePage({ name, signup, username: pending.suggested_username ?? undefined });
    }),

    publicAction(usernamePath, ({ ctx, form, person }) => {
      const username = form.get('username') ?? '';
      const invitation = form.get('invitation') ?? undefined;
      return orShowFormAgain(
        async () => {
          await limits.consume('sign_up', addressKey(ctx));
          const token = cookieOf(ctx, 'external') ?? '';
          const opened = await signUpExternal(unitOfWork, token, { username, invitation }, signup);
          if (!opened) return externalFailurePage('expired', name, person);
          setCookie(ctx, 'external', null);
          await sessions.begin(ctx, opened.account_id);
          const text = `Welcome, ${username.trim().toLowerCase()}. Your account is ready.`;
          return { to: safeReturnPath(opened.to), flash: successFlash(text) };
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
  refusal?: FormRefusal;
}

function choicePage({ name, signup, username, invitation, refusal }: ChoicePage): ShownPage {
  const wrong = refusal?.fields ?? {};
  const body = (
    <>
      <Heading title="Choose a username" lead={`${name} has told us who you are. You are new here.`} />
      <Card>
        <ErrorNotice {...refusal} />
        <Form action={usernamePath}>
          <NewAccountFields
            needsInvitation={signup === 'invite'}
            username={username}
            invitation={invitation}
            errors={wrong}
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
