"""Sixty and more tools of everyday, in English and in Chinese, and what people say who need one."""

from jan_magics.domain.models import ToolSpec
from jan_magics.engine.tools import Tool

ENGLISH = {
    "get_weather": "Tell the weather forecast of a city.",
    "send_mail": "Send an e-mail to a person.",
    "read_file": "Read a file from the disk.",
    "delete_file": "Delete a file.",
    "list_events": "List the appointments of a day in the calendar.",
    "create_event": "Put a meeting into the calendar.",
    "convert_currency": "Convert an amount of money between currencies.",
    "stock_price": "Tell the price of a share on the stock exchange.",
    "translate": "Translate a text into another language.",
    "search_web": "Search the web for pages.",
    "play_music": "Play a song.",
    "book_flight": "Book a flight between two airports.",
    "book_hotel": "Reserve a room in a hotel.",
    "query_database": "Run an SQL query on the database.",
    "plot_data": "Draw a chart of a table.",
    "train_model": "Train a machine learning model.",
    "create_issue": "Open a ticket in the bug tracker.",
    "merge_request": "Merge a pull request of a repository.",
    "run_tests": "Run the tests of a project.",
    "deploy": "Deploy an application to the servers.",
    "restart_service": "Restart a service on a server.",
    "send_sms": "Send a text message to a phone number.",
    "call_taxi": "Order a taxi.",
    "find_restaurant": "Find places to eat near a location.",
    "cook_recipe": "Suggest a recipe for ingredients.",
    "count_calories": "Count the calories of a meal.",
    "set_alarm": "Set an alarm clock.",
    "set_timer": "Start a countdown.",
    "turn_light": "Switch the lamps in the house on or off.",
    "set_temperature": "Set the heating of a room.",
    "lock_door": "Lock the front door.",
}
CHINESE = {
    "查询天气": "查询城市的天气预报",
    "发送邮件": "给某人发送电子邮件",
    "读取文件": "从磁盘读取文件",
    "删除文件": "删除一个文件",
    "日程列表": "列出某天的日程安排",
    "新建会议": "在日历中添加会议",
    "汇率换算": "在货币之间换算金额",
    "股票价格": "查询股票的价格",
    "翻译文本": "把文本翻译成另一种语言",
    "网页搜索": "在互联网上搜索网页",
    "播放音乐": "播放一首歌曲",
    "预订机票": "预订两个机场之间的航班",
    "预订酒店": "预订酒店房间",
    "数据库查询": "在数据库上执行查询语句",
    "绘制图表": "根据表格绘制图表",
    "训练模型": "训练机器学习模型",
    "提交缺陷": "在缺陷跟踪系统中新建工单",
    "合并代码": "合并代码仓库的请求",
    "运行测试": "运行项目的测试",
    "部署应用": "把应用部署到服务器",
    "重启服务": "重启服务器上的服务",
    "发送短信": "向手机号码发送短信",
    "叫出租车": "呼叫出租车",
    "附近餐厅": "查找附近吃饭的地方",
    "推荐菜谱": "根据食材推荐菜谱",
    "计算热量": "计算一餐的热量",
    "设置闹钟": "设置闹钟",
    "开始计时": "开始倒计时",
    "开关电灯": "打开或关闭家里的灯",
    "调节暖气": "设置房间的温度",
    "锁门": "锁上前门",
}

SAID = {
    "Will it rain in Paris tomorrow?": "get_weather",
    "Do I need an umbrella today?": "get_weather",
    "how many euros are 50 dollars": "convert_currency",
    "what do I have on Monday afternoon": "list_events",
    "I am hungry, where can we have dinner?": "find_restaurant",
    "wake me up at seven": "set_alarm",
    "how is Apple doing on Wall Street": "stock_price",
    "show this as a bar graph": "plot_data",
    "明天北京会下雨吗": "查询天气",
    "50美元等于多少欧元": "汇率换算",
    "我饿了，去哪里吃晚饭": "附近餐厅",
    "苹果的股价怎么样": "股票价格",
    "把这张表画成柱状图": "绘制图表",
}
"""What is said, in words that the tool that is needed mostly does not have."""


def tool(name: str, description: str) -> Tool:
    spec = ToolSpec(name, description, {"type": "object", "properties": {}})
    return Tool(spec, lambda _: f"{name} was called", approval="auto", safe=True)


TOOLS = tuple(tool(*each) for each in {**ENGLISH, **CHINESE}.items())
