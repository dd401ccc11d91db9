import { Webhook } from "standardwebhooks";
import { expect, test } from "vitest";
import { member } from "../support/test_gateway.ts";
import { startReceiver } from "../support/webhook_receiver.ts";
import { openPage, openStage } from "./watched_page.ts";

const { browser, gateway, demoTenant } = await openStage({ WEBHOOK_ALLOW_PRIVATE: "1" });

test("an admin adds a webhook, sees what is sent to it, sends it again, changes its secret and deletes it", async () => {
  let status = 500;
  await using receiver = await startReceiver({
    answer: (response) => response.writeHead(status).end("Out of <b>order</b>"),
  });
  const tenant = await demoTenant();
  await gateway.addMember(tenant, member, "admin");
  await using watched = await openPage(browser, `${gateway.url}/#/settings/webhooks`);
  const { page } = watched;
  const name = new URL(receiver.url).host;

  await page.getByText("No webhooks yet").waitFor();
  await page.getByLabel("URL").fill("http://user:password@127.0.0.1/");
  await page.getByRole("button", { name: "Add webhook" }).click();
  await page.getByRole("alert").filter({ hasText: "must not contain a user name" }).waitFor();
  await page.getByLabel("URL").fill(receiver.url);
  await page.getByRole("checkbox", { name: /^monitor.error/ }).uncheck();
  await page.getByRole("button", { name: "Add webhook" }).click();
  const secret = await page.getByRole("textbox", { name: `Secret of ${name}` }).inputValue();
  expect(secret).toMatch(/^whsec_/);
  await page.getByRole("button", { name: "Done" }).click();
  await page.getByText("scan.end, finding.created, finding.updated · JSON").waitFor();

  await page.getByRole("button", { name: `Send a test to ${name}` }).click();
  await receiver.waitFor(1);
  const deliveries = page.getByRole("list", { name: "Deliveries" });
  await expect
    .poll(async () => {
      await page.getByRole("button", { name: "Refresh" }).click();
      return deliveries.textContent();
    })
    .toContain("HTTP 500: Out of <b>order</b>");
  expect(await deliveries.textContent()).toMatch(/^webhook\.test.*1 attempt · next .*Pending/);

  status = 204;
  await deliveries.getByRole("button", { name: /^Send webhook.test of .* again$/ }).click();
  const [, again] = await receiver.waitFor(2);
  new Webhook(secret).verify(again?.body ?? "", again?.headers as Record<string, string>);
  await page.getByLabel("Show").selectOption("delivered");
  await expect
    .poll(async () => {
      await page.getByRole("button", { name: "Refresh" }).click();
      return deliveries.textContent();
    })
    .toContain("Delivered");
  await page.getByLabel("Show").selectOption("dead");
  await page.getByText("No delivery has this status.").waitFor();

  await page.getByRole("button", { name: `New secret for ${name}` }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Create secret" }).click();
  await page.getByText("The previous secret stays valid for 24 hours").waitFor();
  expect(await page.getByRole("textbox", { name: `Secret of ${name}` }).inputValue()).not.toBe(secret);
  await page.getByRole("button", { name: `Disable ${name}` }).click();
  await page.getByText("Disabled", { exact: true }).waitFor();
  await page.getByRole("button", { name: `Delete ${name}` }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await page.getByText("No webhooks yet").waitFor();
  expect(await page.getByText("whsec_").count()).toBe(0);
});

test("a member who may not manage is offered no webhooks", async () => {
  const tenant = await demoTenant();
  await gateway.addMember(tenant, member, "operator");
  await using watched = await openPage(browser, `${gateway.url}/#/settings/webhooks`);
  await watched.page.getByRole("heading", { name: "Your session" }).waitFor();
  expect(await watched.page.getByRole("link", { name: "Webhooks" }).count()).toBe(0);
});
