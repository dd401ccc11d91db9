/** The Standard Mandatory DOD Notice and Consent Banner, paragraph by paragraph, as DTM-08-060 words it. */
const bannerParagraphs = [
  "You are accessing a U.S. Government (USG) Information System (IS) that is provided for USG-authorized use only.",
  "By using this IS (which includes any device attached to this IS), you consent to the following conditions:",
  "-The USG routinely intercepts and monitors communications on this IS for purposes including, but not limited to, penetration testing, COMSEC monitoring, network operations and defense, personnel misconduct (PM), law enforcement (LE), and counterintelligence (CI) investigations.",
  "-At any time, the USG may inspect and seize data stored on this IS.",
  "-Communications using, or data stored on, this IS are not private, are subject to routine monitoring, interception, and search, and may be disclosed or used for any USG-authorized purpose.",
  "-This IS includes security measures (e.g., authentication and access controls) to protect USG interests--not for your personal benefit or privacy.",
  "-Notwithstanding the above, using this IS does not constitute consent to PM, LE or CI investigative searching or monitoring of the content of privileged communications, or work product, related to personal representation or services by attorneys, psychotherapists, or clergy, and their assistants. Such communications and work product are private and confidential. See User Agreement for details.",
] as const;

const widgetStyle = `        {{#useSiwGen3}}
        html {
            font-size: 87.5%;
        }
        {{/useSiwGen3}}

`;

/** Okta's page of today, which an org shows that customized nothing. */
export function defaultPage(): string {
  return signInPage("", "", widgetStyle);
}

/** A page that was customized before Okta had styles for the third generation of its widget. */
export function signInPage(script = "", beforeWidget = "", style = ""): string {
  return `<!DOCTYPE html PUBLIC "-//W3C//DTD HTML 4.01//EN" "http://www.w3.org/TR/html4/strict.dtd">
<html>
<head>
    <meta http-equiv="Content-Type" content="text/html; charset=UTF-8">
    <meta name="viewport" content="width=device-width, initial-scale=1.0" />
    <meta name="robots" content="noindex,nofollow" />
    <!-- Styles generated from theme -->
    <link href="{{themedStylesUrl}}" rel="stylesheet" type="text/css">
    <!-- Favicon from theme -->
    <link rel="shortcut icon" href="{{faviconUrl}}" type="image/x-icon"/>

    <title>{{pageTitle}}</title>
    {{{SignInWidgetResources}}}

    <style nonce="{{nonceValue}}">
${style}        #login-bg-image-id {
            background-image: {{bgImageUrl}}
        }
    </style>
</head>
<body>
    <div id="login-bg-image-id" class="login-bg-image tb--background"></div>
    ${beforeWidget}<div id="okta-login-container"></div>

    <!--
        "OktaUtil" defines a global OktaUtil object
        that contains methods used to complete the Okta login flow.
     -->
    {{{OktaUtil}}}

    <script type="text/javascript" nonce="{{nonceValue}}">
        // "config" object contains default widget configuration
        // with any custom overrides defined in your admin settings.
        var config = OktaUtil.getSignInWidgetConfig();
${script}
        // Render the Okta Sign-In Widget
        var oktaSignIn = new OktaSignIn(config);
        oktaSignIn.renderEl({ el: '#okta-login-container' },
            OktaUtil.completeLogin,
            function(error) {
                // Logs errors that occur when configuring the widget.
                // Remove or replace this with your own custom error handler.
                console.log(error.message, error);
            }
        );
    </script>
</body>
</html>
`;
}

/**
 * The customization with which an org shows DISA's banner: the page's script builds it from concatenated, escaped string
 * literals with markup in them. No sentence of the banner stands in the page as plain text.
 */
export function dodBannerPage(): string {
  return signInPage(bannerScript(bannerParagraphs));
}

/** Okta's page of today with a dialog before the sign-in form, as DISA's Okta DOD Warning Banner Configuration Guide has it. */
export function bannerDialogPage(): string {
  return signInPage(`\n        alert(${JSON.stringify(bannerParagraphs.join("\n\n"))});\n`, "", widgetStyle);
}

/** A banner without the paragraphs on privacy. */
export function shortenedBannerPage(): string {
  return signInPage(bannerScript(bannerParagraphs.slice(0, 4)));
}

/** The whole banner, in an element that an attribute hides. */
export function hiddenBannerPage(attribute: string): string {
  const paragraphs = bannerParagraphs.map((paragraph) => `<p>${paragraph.replaceAll("&", "&amp;")}</p>`);
  return signInPage("", `<section ${attribute}>${paragraphs.join("\n")}</section>\n    `);
}

function bannerScript(paragraphs: readonly string[]): string {
  const literals = paragraphs.flatMap((paragraph) => [
    `'<p class="dod-notice">'`,
    ...halves(paragraph).map((half) => `'${escaped(half)}'`),
    `'<\\/p>'`,
  ]);
  return `
        // DOD Notice and Consent Banner, acknowledged before the sign-in form is usable.
        var notice = ${literals.join(" +\n            ")};
        var banner = document.createElement('div');
        banner.id = 'dod-consent-banner';
        banner.innerHTML = notice + '<button id="dod-consent-accept">OK<\\/button>';
        document.body.insertBefore(banner, document.body.firstChild);
        document.getElementById('dod-consent-accept').onclick = function() { banner.remove(); };
`;
}

/** Long paragraphs are wrapped the way an editor's user wraps them: in the middle, at a space. */
function halves(paragraph: string): readonly string[] {
  const middle = paragraph.indexOf(" ", Math.floor(paragraph.length / 2));
  return middle === -1 ? [paragraph] : [paragraph.slice(0, middle + 1), paragraph.slice(middle + 1)];
}

function escaped(text: string): string {
  return text.replaceAll("--", "\\u002d\\u002d").replaceAll("(e.g.,", "&#40;e.g.&#44;");
}
